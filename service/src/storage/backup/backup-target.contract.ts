// The contract of the port of backup targets: every adapter passes these tests.
import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { BackupTarget, TargetFile } from '../backup-target.ts';
import { inChunks, MIB, withEmptyChunks } from '../object-store.fixture.ts';

type OpenTarget = () => Promise<BackupTarget>;

/** `openAgain`: the same target, as another process opens it. */
export function backupTargetContract(
  name: string,
  {
    open,
    openAgain,
  }: { readonly open: OpenTarget; readonly openAgain: (first: BackupTarget) => BackupTarget },
): void {
  describe(`${name} is a backup target`, () => {
    let target: BackupTarget;
    let other: BackupTarget;
    beforeAll(async () => {
      target = await open();
      other = openAgain(target);
    });
    afterAll(() => {
      target.close();
      other.close();
    });
    describe('files', () => keepsFiles(() => target));
    describe('incomplete files', () => rejectsIncomplete(() => target));
    describe('the lock', () =>
      isLocked(
        () => target,
        () => other,
      ));
  });
}

const newPath = () => `objects/originals/${randomUUID()}`;
const none = new AbortController().signal;

async function listOf(target: BackupTarget, folder: string): Promise<TargetFile[]> {
  const files: TargetFile[] = [];
  for await (const file of target.list(folder)) files.push(file);
  return files;
}

function keepsFiles(target: () => BackupTarget): void {
  const bytesOf = async (path: string) => {
    const bytes = await target().read(path);
    return bytes && (await buffer(bytes));
  };

  test.for([0, 1, MIB, 8 * MIB, 20 * MIB + 1])('of %i bytes are read as they were written', async (size) => {
    const [path, content] = [newPath(), randomBytes(size)];
    const written = await target().write(
      { path, sizeBytes: size },
      withEmptyChunks(inChunks(content, 100_000)),
    );
    expect(written).toEqual({
      sizeBytes: size,
      sha256: createHash('sha256').update(content).digest('hex'),
    });
    expect((await bytesOf(path))?.equals(content)).toBe(true);
  });

  test('are listed with their size, below their folder alone', async () => {
    const [path, similar] = [`log/${randomUUID()}.gz`, `logs/${randomUUID()}.gz`];
    for (const each of [path, similar])
      await target().write({ path: each, sizeBytes: 3 }, inChunks(Buffer.from('abc'), 1));
    const listed = await listOf(target(), 'log');
    expect(listed.map((file) => file.path)).toEqual([path]);
    expect(listed[0]).toMatchObject({ sizeBytes: 3 });
    expect(await listOf(target(), 'nothing')).toEqual([]);
    expect(await bytesOf('log/nothing')).toBeUndefined();
  });

  test('are never overwritten', async () => {
    const path = newPath();
    await target().write({ path, sizeBytes: 5 }, inChunks(Buffer.from('first'), 5));
    for (const size of [5, 9 * MIB])
      await expect(
        target().write({ path, sizeBytes: size }, inChunks(randomBytes(size), MIB)),
      ).rejects.toMatchObject({ reason: 'exists' });
    expect((await bytesOf(path))?.toString()).toBe('first');
  });

  test('that are removed do not exist, and may be written again', async () => {
    const paths = [newPath(), newPath(), newPath()];
    const [first = '', ...others] = paths;
    for (const path of paths) await target().write({ path, sizeBytes: 1 }, inChunks(Buffer.from('x'), 1));
    await target().remove([...others, newPath()]);
    await target().remove([]);
    const listed = (await listOf(target(), 'objects')).map((file) => file.path);
    expect(paths.filter((path) => listed.includes(path))).toEqual([first]);
    await target().write({ path: others[0] ?? '', sizeBytes: 1 }, inChunks(Buffer.from('y'), 1));
    expect((await bytesOf(others[0] ?? ''))?.toString()).toBe('y');
  });
}

function rejectsIncomplete(target: () => BackupTarget): void {
  test.for([
    ['fewer bytes than announced', 'cut_short', 10, 5],
    ['more bytes than announced', 'too_long', 5, 10],
    ['fewer bytes than announced, in parts', 'cut_short', 20 * MIB, 17 * MIB],
    ['more bytes than announced, in parts', 'too_long', 17 * MIB, 20 * MIB],
  ] as const)('%s leave no file', async ([, reason, announced, sent]) => {
    const path = newPath();
    const bytes = inChunks(randomBytes(sent), MIB);
    await expect(target().write({ path, sizeBytes: announced }, bytes)).rejects.toMatchObject({ reason });
    expect(await target().read(path)).toBeUndefined();
    expect((await listOf(target(), 'objects')).map((file) => file.path)).not.toContain(path);
  });
}

function isLocked(target: () => BackupTarget, other: () => BackupTarget): void {
  test('belongs to one backup at a time, until it is released', async () => {
    const held = await target().lock(none);
    await expect(other().lock(none)).rejects.toThrow('Another backup');
    await held.assertHeld();
    expect(held.signal.aborted).toBe(false);
    await held.release();
    const next = await other().lock(none);
    await next.release();
  });
}
