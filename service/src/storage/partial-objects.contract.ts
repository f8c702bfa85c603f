// The contract tests of object stores that take partial objects.
import { randomBytes, randomUUID } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import { beforeAll, describe, expect, test } from 'vitest';
import { type ObjectKey, uploadKey } from './object-key.ts';
import type { ObjectStore, PartialObjects, PutRefusal } from './object-store.ts';

const MIB = 1024 * 1024;

type PartialStore = Pick<ObjectStore, 'size' | 'stream'> & { readonly partial: PartialObjects };

export function partialObjectsContract(name: string, open: () => Promise<PartialStore>): void {
  describe(`${name} takes partial objects, which`, () => {
    let opened: PartialStore;
    beforeAll(async () => {
      opened = await open();
    });
    appendsParts(() => opened);
    losesParts(() => opened);
  });
}

const newKey = () => uploadKey(randomUUID(), randomUUID());

const stepsOn = (store: () => PartialStore) => ({
  partialOf: () => store().partial,
  write: (key: ObjectKey, bytes: Buffer, offset: number) =>
    store().partial.append(key, inChunks(bytes, 64 * 1024), offset),
});

function appendsParts(store: () => PartialStore): void {
  const { partialOf, write } = stepsOn(store);

  test('are no objects until they are finished, and then hold every part', async () => {
    const [key, content] = [newKey(), randomBytes(3 * MIB + 7)];
    expect(await write(key, content.subarray(0, MIB + 1), 0)).toBe(MIB + 1);
    expect(await write(key, content.subarray(MIB + 1), MIB + 1)).toBe(content.length);
    expect(await store().size(key)).toBeUndefined();
    await partialOf().finish(key);
    expect((await buffer(store().stream(key))).equals(content)).toBe(true);
  });

  test('are written again from an offset within them', async () => {
    const [key, content] = [newKey(), randomBytes(2 * MIB)];
    await write(key, Buffer.concat([content.subarray(0, MIB), randomBytes(5 * MIB)]), 0);
    expect(await write(key, content.subarray(MIB), MIB)).toBe(content.length);
    await partialOf().finish(key);
    expect((await buffer(store().stream(key))).equals(content)).toBe(true);
  });

  test('are finished once, however often this is asked for', async () => {
    const [key, content] = [newKey(), randomBytes(1000)];
    await write(key, content, 0);
    await Promise.all([partialOf().finish(key), partialOf().finish(key)]);
    await partialOf().finish(key);
    await partialOf().discard(key);
    expect((await buffer(store().stream(key))).equals(content)).toBe(true);
  });
}

function losesParts(store: () => PartialStore): void {
  const { partialOf, write } = stepsOn(store);

  test('are gone when they are discarded, also twice', async () => {
    const key = newKey();
    await write(key, randomBytes(1000), 0);
    await partialOf().discard(key);
    await partialOf().discard(key);
    await expectRefusedWith('lost', () => write(key, randomBytes(10), 1000));
    await expect(partialOf().finish(key)).rejects.toThrow();
    expect(await store().size(key)).toBeUndefined();
  });

  test('are lost if they have fewer bytes than the offset', async () => {
    const key = newKey();
    await write(key, randomBytes(1000), 0);
    await expectRefusedWith('lost', () => write(key, randomBytes(10), 1001));
  });

  test('keep what was written before their source failed', async () => {
    const [key, content] = [newKey(), randomBytes(MIB)];
    await write(key, content, 0);
    await expectRefusedWith('cut_short', () => partialOf().append(key, failing(MIB, new Error('cut')), MIB));
    expect(await write(key, content, MIB)).toBe(2 * MIB);
    await partialOf().finish(key);
    expect((await buffer(store().stream(key))).equals(Buffer.concat([content, content]))).toBe(true);
  });
}

const expectRefusedWith = (reason: PutRefusal, work: () => Promise<unknown>) =>
  expect(work()).rejects.toMatchObject({ reason });

async function* inChunks(bytes: Buffer, size: number): AsyncGenerator<Uint8Array> {
  for (let start = 0; start < bytes.length; start += size) yield bytes.subarray(start, start + size);
}

async function* failing(after: number, failure: Error): AsyncGenerator<Uint8Array> {
  yield* inChunks(randomBytes(after), 64 * 1024);
  throw failure;
}
