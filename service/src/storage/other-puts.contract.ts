// The contract of the other ways to put an object: every adapter passes these tests.
import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { beforeAll, describe, expect, test } from 'vitest';
import { uploadKey, variantKey } from './object-key.ts';
import { MIB } from './object-store.fixture.ts';
import type { ObjectStore } from './object-store.ts';

export function otherPutsContract(name: string, open: () => Promise<ObjectStore>): void {
  describe(name, () => {
    let opened: ObjectStore;
    beforeAll(async () => {
      opened = await open();
    });
    copiesFiles(() => opened);
    storesSmallObjects(() => opened);
    copiesObjects(() => opened);
  });
}

function copiesFiles(store: () => ObjectStore): void {
  test.for([0, 1, 5 * MIB])('copies a local file of %i bytes to a key that is free', async (length) => {
    const [path, content] = [join(tmpdir(), randomUUID()), randomBytes(length)];
    const key = variantKey(randomUUID(), 'w640.avif');
    await writeFile(path, content);
    try {
      await store().putFile(key, path);
      await expect(store().putFile(key, path)).rejects.toMatchObject({ reason: 'exists' });
      expect((await readFile(path)).equals(content)).toBe(true);
    } finally {
      await rm(path);
    }
    expect((await buffer(store().stream(key))).equals(content)).toBe(true);
  });
}

function storesSmallObjects(store: () => ObjectStore): void {
  const newKey = () => uploadKey(randomUUID(), randomUUID());

  test.for([[], [0], [20_000], [1, 0, 200_000, 7]])('stores chunks of %j bytes', async (lengths) => {
    const [key, chunks] = [newKey(), lengths.map((length) => randomBytes(length))];
    const content = Buffer.concat(chunks);
    const sha256 = createHash('sha256').update(content).digest('hex');
    expect(await store().putSmall(key, chunks)).toEqual({ sizeBytes: content.length, sha256 });
    expect((await buffer(store().stream(key))).equals(content)).toBe(true);
  });

  test('of 20 small objects with the same key one is stored, completely', async () => {
    const [key, contents] = [newKey(), Array.from({ length: 20 }, () => randomBytes(100_000))];
    const puts = await Promise.allSettled(contents.map((content) => store().putSmall(key, [content])));
    const [winner, ...others] = contents.filter((_, index) => puts[index]?.status === 'fulfilled');
    expect(others).toEqual([]);
    expect(winner?.equals(await buffer(store().stream(key)))).toBe(true);
    for (const put of puts)
      if (put.status === 'rejected') expect(put.reason).toMatchObject({ reason: 'exists' });
  });
}

function copiesObjects(store: () => ObjectStore): void {
  const newKey = () => uploadKey(randomUUID(), randomUUID());

  test('a copy has the same bytes, can be repeated, and outlives its source', async () => {
    const [from, to] = [newKey(), newKey()];
    const content = randomBytes(3 * MIB);
    await store().put(from, [content], content.length);
    await store().copy(from, to);
    await store().copy(from, to);
    await store().remove(from);
    expect((await buffer(store().stream(to))).equals(content)).toBe(true);
    expect(await store().size(from)).toBeUndefined();
  });

  test('an object that does not exist is not copied', async () => {
    const to = newKey();
    await expect(store().copy(newKey(), to)).rejects.toThrow();
    expect(await store().size(to)).toBeUndefined();
  });
}
