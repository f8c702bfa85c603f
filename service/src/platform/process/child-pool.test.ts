// Tests that pooled children are reused, replaced after a failure and stopped when idle.
import { execFile } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { type ChildPool, type ChildPoolOptions, openChildPool, type RunTask } from './child-pool.ts';
import type { TaskOutcome } from './child.ts';
import { detectSandbox } from './detect-sandbox.ts';
import { createLimitsOnlySandbox, type Sandbox } from './sandbox.ts';

/** Performs the work that the request names. */
const WORKER = `
  import { createHash } from 'node:crypto';
  import { readFileSync, readSync } from 'node:fs';
  let asked = 0;
  const readInput = (length) => {
    const bytes = Buffer.alloc(length);
    for (let start = 0; start < length; ) start += readSync(0, bytes, start, length - start, null);
    return bytes;
  };
  process.on('disconnect', () => process.exit(0));
  process.on('message', ({ work, value }) => {
    if (work === 'loop') for (;;);
    if (work === 'die') process.exit(3);
    if (work === 'fill') { const all = []; for (;;) all.push(Buffer.alloc(1 << 24, 1)); }
    if (work === 'ask') return process.send({ question: value });
    if (work === 'read') value = createHash('sha256').update(readInput(value)).digest('hex');
    asked += 1;
    process.send({
      pid: process.pid, asked, value,
      environment: Object.keys(process.env),
      status: readFileSync('/proc/self/status', 'utf8'),
    });
  });
  process.send('ready');`;

type Answer = { pid: number; asked: number; value: unknown; environment: string[]; status: string };

let script: URL;
let complete: Sandbox;
beforeAll(async () => {
  const path = join(await mkdtemp(join(tmpdir(), 'mediary-pool-')), 'worker.mjs');
  await writeFile(path, WORKER);
  await promisify(execFile)('chmod', ['-R', 'a+rX', join(path, '..')]);
  script = pathToFileURL(path);
  complete = await detectSandbox({
    hidden: [],
    readable: [process.execPath, path],
    user: { uid: 65_533, gid: 65_533 },
  });
});

let pool: ChildPool;
let runTask: RunTask;
let runOther: RunTask;
afterEach(() => pool.close());
function open(options: Partial<ChildPoolOptions> = {}): void {
  pool = openChildPool({
    sandbox: createLimitsOnlySandbox(),
    processes: 1,
    idleMs: 60_000,
    ...options,
  });
  const limits = { cpuSeconds: 60, fileBytes: 0, openFiles: 64, dataBytes: 2 ** 30 };
  const unlimited = {
    perOwner: Number.POSITIVE_INFINITY,
    maxWaiting: Number.POSITIVE_INFINITY,
    waitMs: Number.POSITIVE_INFINITY,
  };
  const start = (...flags: string[]) =>
    pool.addKind({ program: { script, flags, limits }, acquire: pool.addGroup(unlimited) });
  runTask = start();
  runOther = start('--no-warnings');
}

type RunOptions = { readonly deadlineMs?: number; readonly kind?: RunTask };

const run = (
  work: string,
  { deadlineMs = 20_000, kind = runTask }: RunOptions = {},
): Promise<TaskOutcome<Answer>> =>
  kind<Answer>(
    {
      deadlineMs,
      buildRequest: () => ({ message: { work } }),
      onMessage: (message) =>
        'question' in (message as object) ? { reply: { work: 'tell' } } : { result: message as Answer },
    },
    'owner',
  );
const answer = async (work = 'tell', options: RunOptions = {}): Promise<Answer> => {
  const outcome = await run(work, options);
  if ('failed' in outcome) throw new Error(outcome.failed);
  return outcome.result;
};
async function read(length: number, input: AsyncIterable<Uint8Array>): Promise<Answer> {
  const outcome = await runTask<Answer>(
    {
      deadlineMs: 20_000,
      buildRequest: () => ({ message: { work: 'read', value: length }, input }),
      onMessage: (message) => ({ result: message as Answer }),
    },
    'owner',
  );
  if ('failed' in outcome) throw new Error(outcome.failed);
  return outcome.result;
}

/** In memory that each chunk reuses, as a file is read. */
async function* inChunks(bytes: Buffer): AsyncGenerator<Uint8Array> {
  const memory = Buffer.alloc(512 * 1024);
  for (let start = 0; start < bytes.length; start += memory.length)
    yield memory.subarray(0, bytes.copy(memory, 0, start));
}

async function* failing(): AsyncGenerator<Uint8Array> {
  yield Buffer.alloc(1);
  throw new Error('the disk is broken');
}

/** The result depends on the load of the machine. */
const TIMEOUTS = [{ failed: 'late' }, { failed: 'starved' }];
const isAlive = (pid: number) =>
  readFile(`/proc/${pid}/stat`, 'utf8').then(
    (stat) => !/\) [ZX] /.test(stat),
    () => false,
  );

describe.skipIf(process.platform !== 'linux')('a pool of children', () => {
  test('reuses a child for the next task, and replies to its messages', async () => {
    open();
    const first = await answer();
    expect(await answer('ask')).toMatchObject({ pid: first.pid, asked: 2 });
  });
  test('stops an idle child of another kind when there is no other place', async () => {
    open();
    const { pid } = await answer();
    expect(await answer('tell', { kind: runOther })).toMatchObject({ asked: 1 });
    expect(await isAlive(pid)).toBe(false);
    expect((await answer()).asked).toBe(1);
  });
  test('keeps a child of each kind while there is place', async () => {
    open({ processes: 2 });
    const [first, other] = [await answer(), await answer('tell', { kind: runOther })];
    expect(await answer()).toMatchObject({ pid: first.pid, asked: 2 });
    expect(await answer('tell', { kind: runOther })).toMatchObject({ pid: other.pid, asked: 2 });
  });
  test('runs a task of one kind while tasks of the other kind wait', async () => {
    open({ processes: 3 });
    const stuck = Array.from({ length: 5 }, () =>
      expect(run('loop', { kind: runOther })).rejects.toThrow('closed'),
    );
    expect(await answer()).toMatchObject({ asked: 1 });
    await pool.close();
    await Promise.all(stuck);
  });
  test('does not pass the environment of the service to a child', async () => {
    open();
    expect((await answer()).environment).toEqual(expect.not.arrayContaining(['PATH', 'HOME', 'VITEST']));
  });
  test.each(['die', 'fill'])('starts a new child for the next task after: %s', async (work) => {
    open();
    const { pid } = await answer();
    expect(await run(work)).toEqual({ failed: 'died' });
    const next = await answer();
    expect(next).toMatchObject({ asked: 1 });
    expect(next.pid).not.toBe(pid);
  });
  test('kills a child that is busy at the deadline', async () => {
    open();
    const { pid } = await answer();
    expect(TIMEOUTS).toContainEqual(await run('loop', { deadlineMs: 300 }));
    expect(await isAlive(pid)).toBe(false);
    expect((await answer()).asked).toBe(1);
  });
  test('stops an idle child', async () => {
    open({ idleMs: 50 });
    const { pid } = await answer();
    await vi.waitFor(async () => expect(await isAlive(pid)).toBe(false), { timeout: 5000, interval: 20 });
    expect((await answer()).asked).toBe(1);
  });
  test('replaces a child that asks to be retired', async () => {
    open();
    const worn = { deadlineMs: 20_000, buildRequest: () => ({ message: { work: 'tell' } }) };
    await runTask({ ...worn, onMessage: () => ({ result: 1, shouldRetire: true }) }, 'owner');
    expect((await answer()).asked).toBe(1);
  });
  test('rejects with the error of a message handler', async () => {
    open();
    const broken = { deadlineMs: 20_000, buildRequest: () => ({ message: { work: 'ask' } }) };
    const onMessage = () => Promise.reject(new Error('the store is down'));
    await expect(runTask({ ...broken, onMessage }, 'owner')).rejects.toThrow('the store is down');
    expect((await answer()).asked).toBe(1);
  });
  test('gives a child bytes as its input, whatever else it has read', async () => {
    open();
    for (const length of [3, 700_000, 0, 2_000_000]) {
      const bytes = randomBytes(length);
      const hash = createHash('sha256').update(bytes).digest('hex');
      expect((await read(length, inChunks(bytes))).value).toBe(hash);
    }
    expect((await answer()).asked).toBe(5);
  });
  test('rejects with the error of an input, and starts a new child for the next task', async () => {
    open();
    await expect(read(2, failing())).rejects.toThrow('the disk is broken');
    expect((await answer()).asked).toBe(1);
  });
  test('ends a task whose child died before it read all of its input', async () => {
    open();
    const message = { work: 'die' };
    const task = {
      deadlineMs: 20_000,
      buildRequest: () => ({ message, input: inChunks(Buffer.alloc(2e6)) }),
    };
    const onMessage = () => ({ result: 1 });
    expect(await runTask({ ...task, onMessage }, 'owner')).toEqual({ failed: 'died' });
    expect((await answer()).asked).toBe(1);
  });
  test('kills a child that answers and leaves some of its input', async () => {
    open();
    const input = inChunks(Buffer.alloc(2e6));
    const task = { deadlineMs: 200, buildRequest: () => ({ message: { work: 'tell' }, input }) };
    const onMessage = (message: unknown) => ({ result: message });
    expect(await runTask({ ...task, onMessage }, 'owner')).toHaveProperty('failed');
    expect((await answer()).asked).toBe(1);
  });
  test('does not kill a child that waits for a reply', async () => {
    open();
    const slow = { deadlineMs: 50, buildRequest: () => ({ message: { work: 'ask' } }) };
    expect(await runTask({ ...slow, onMessage: () => new Promise(() => {}) }, 'owner')).toEqual({
      failed: 'unanswered',
    });
  });
  test('works in the complete sandbox of this system', async () => {
    open({ sandbox: complete });
    const { status, environment } = await answer();
    if (complete.protections.no_new_privileges) expect(status).toMatch(/^NoNewPrivs:\s+1$/m);
    expect(environment).not.toContain('PATH');
    expect(TIMEOUTS).toContainEqual(await run('loop', { deadlineMs: 300 }));
    expect(await run('fill')).toEqual({ failed: 'died' });
    expect((await answer()).asked).toBe(1);
  });
});
