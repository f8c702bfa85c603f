// A put that is refused leaves no open file.
import { readdir, readlink, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { randomUUID } from 'node:crypto';
import { expect, test, vi } from 'vitest';
import { variantKey } from '../object-key.ts';
import type { S3Connection } from './connection.ts';
import type { PartMemory } from './part-memory.ts';
import { putFile } from './put.ts';

const DESCRIPTORS = '/proc/self/fd';

async function isOpen(path: string): Promise<boolean> {
  const names = await readdir(DESCRIPTORS);
  const targets = await Promise.all(names.map((name) => readlink(join(DESCRIPTORS, name)).catch(() => '')));
  return targets.includes(path);
}

test('a file whose put is refused for lack of memory is closed', async () => {
  const path = join(tmpdir(), randomUUID());
  await writeFile(path, 'bytes');
  const memory: PartMemory = () => ({
    grow: () => Promise.reject(new Error('no memory')),
    receive: (next) => next,
    release: () => {},
  });
  const file = { key: variantKey(randomUUID(), 'w640.avif'), path };
  try {
    await expect(putFile({} as S3Connection, memory, file)).rejects.toThrow('no memory');
    await vi.waitFor(async () => expect(await isOpen(path)).toBe(false));
  } finally {
    await rm(path);
  }
});
