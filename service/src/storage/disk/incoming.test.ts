// Tests that only the temporary files of exited processes are deleted.
import { spawn } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { openDiskObjectStore } from '../disk-object-store.ts';
import { originalKey } from '../object-key.ts';
import { bytesIn } from '../received-bytes.ts';
import { batchesOf, writeBehind } from './incoming.ts';

const originalOf = (id: string) => originalKey({ id, original_upload: id });

const MIB = 1024 * 1024;
let scratch: string;
beforeAll(async () => {
  scratch = await mkdtemp(join(tmpdir(), 'leftovers-'));
});
afterAll(() => rm(scratch, { recursive: true, force: true }));

const newRoot = () => join(scratch, randomUUID());
const incomingOf = (root: string) => readdir(join(root, 'incoming'));

describe('incomplete uploads', () => {
  const STUCK_WRITER = `
    const { openDiskObjectStore } = await import(process.argv[1]);
    const store = await openDiskObjectStore(process.argv[2]);
    async function* stuck() {
      for (let i = 0; i < 40; i++) yield Buffer.alloc(65536);
      console.log('halfway');
      await new Promise(() => setInterval(() => {}, 1000));
    }
    await store.put('originals/' + crypto.randomUUID() + '/' + crypto.randomUUID(), stuck(), 1e9);`;
  const startWriter = async (root: string) => {
    const child = spawn(
      process.execPath,
      [
        '--input-type=module',
        '-e',
        STUCK_WRITER,
        join(import.meta.dirname, '..', 'disk-object-store.ts'),
        root,
      ],
      { stdio: ['ignore', 'pipe', 'inherit'] },
    );
    onTestFinished(() => {
      child.kill('SIGKILL');
    });
    await once(child.stdout, 'data');
    return child;
  };

  test.runIf(process.platform === 'linux')(
    'of a killed process are deleted at the next start, those of a running one are not',
    async () => {
      const root = newRoot();
      const [dead, live] = [await startWriter(root), await startWriter(root)];
      await openDiskObjectStore(root);
      expect(await incomingOf(root)).toHaveLength(2);
      dead.kill('SIGKILL');
      await once(dead, 'exit');
      await openDiskObjectStore(root);
      expect(await incomingOf(root)).toEqual([expect.stringContaining(`-${live.pid}-`)]);
    },
  );

  test('of a put in the same process are not deleted', async () => {
    const root = newRoot();
    const store = await openDiskObjectStore(root);
    async function* slow() {
      yield randomBytes(2 * MIB);
      await openDiskObjectStore(root);
      expect(await incomingOf(root)).toHaveLength(1);
    }
    expect(await store.put(originalOf(randomUUID()), slow(), 3 * MIB)).toMatchObject({ sizeBytes: 2 * MIB });
  });

  test('of other machines are deleted after a day', async () => {
    const root = newRoot();
    const incoming = join(root, 'incoming');
    // Of an indexing service.
    await mkdir(join(incoming, '@eaDir'), { recursive: true });
    const longAgo = Date.now() / 1000 - 25 * 60 * 60;
    for (const name of [
      'unknown_old',
      'unknown_new',
      `${'0'.repeat(16)}-999999999-5_old`,
      `${'0'.repeat(16)}-999999999-5_new`,
    ]) {
      await writeFile(join(incoming, name), 'half');
      if (name.endsWith('old')) await utimes(join(incoming, name), longAgo, longAgo);
    }
    await utimes(join(incoming, '@eaDir'), longAgo, longAgo);
    await openDiskObjectStore(root);
    expect((await incomingOf(root)).sort()).toEqual([
      `${'0'.repeat(16)}-999999999-5_new`,
      '@eaDir',
      'unknown_new',
    ]);
  });
});

test('small chunks share a batch, but those of a slow source wait for a second at most', async () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  onTestFinished(() => {
    vi.useRealTimers();
  });
  async function* slow() {
    for (const pauseMs of [0, 0, 1000, 0, 500, 500, 0]) {
      vi.advanceTimersByTime(pauseMs);
      yield Buffer.alloc(10);
    }
  }
  const batches: number[] = [];
  for await (const batch of batchesOf(slow(), MIB)) batches.push(bytesIn(batch));
  expect(batches).toEqual([30, 30, 10]);
});

describe('writing behind', () => {
  /** Batches 1, 2, … that the test sends, and writes that end when the test says so. */
  function start() {
    const started: { readonly batch: number; readonly end: (error?: Error) => void }[] = [];
    const write = (batch: number) =>
      new Promise<void>((resolve, reject) => {
        started.push({ batch, end: (error) => (error ? reject(error) : resolve()) });
      });
    const batches = new PassThrough({ objectMode: true });
    let hasEnded = false;
    const done = writeBehind<number>(batches, write).finally(() => {
      hasEnded = true;
    });
    done.catch(() => {});
    return {
      started,
      batches,
      done,
      hasEnded: () => hasEnded,
      written: () => started.map(({ batch }) => batch),
    };
  }
  const turn = () => new Promise(setImmediate);

  test('takes the next batch while it writes, and writes one at a time', async () => {
    const { started, batches, done, written } = start();
    batches.write(1);
    batches.end(2);
    await turn();
    expect([written(), batches.readableLength]).toEqual([[1], 0]);
    started[0]?.end();
    await turn();
    expect(written()).toEqual([1, 2]);
    started[1]?.end();
    await done;
  });

  test('throws the error of a write at the next one, or at the end', async () => {
    const [next, last] = [start(), start()];
    for (const { batches } of [next, last]) batches.write(1);
    await turn();
    for (const { started } of [next, last]) started[0]?.end(new Error('no space'));
    await turn();
    next.batches.write(2);
    last.batches.end();
    for (const { done } of [next, last]) await expect(done).rejects.toThrow('no space');
    expect([next.written(), last.written()]).toEqual([[1], [1]]);
  });

  test('ends when nothing is written any more, also after an error of the source', async () => {
    const { started, batches, done, hasEnded } = start();
    batches.write(1);
    await turn();
    batches.destroy(new Error('cut short'));
    await turn();
    expect(hasEnded()).toBe(false);
    started[0]?.end();
    await expect(done).rejects.toThrow('cut short');
  });
});
