// The contract of the object store port: every adapter passes these tests.
import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { beforeAll, describe, expect, test } from 'vitest';
import {
  assetPrefixes,
  type ObjectKey,
  originalPrefix,
  renditionKey,
  renditionPrefix,
  renditionsPrefix,
  variantKey,
} from './object-key.ts';
import {
  endless,
  failing,
  failingEarly,
  inChunks,
  MIB,
  originalOf,
  withEmptyChunks,
} from './object-store.fixture.ts';
import type { ObjectStoreError, ObjectStore, ObjectStoreErrorReason } from './object-store.ts';

export function objectStoreContract(name: string, open: () => Promise<ObjectStore>): void {
  describe(`${name} is an object store`, () => {
    let opened: ObjectStore;
    beforeAll(async () => {
      opened = await open();
    });
    const store = () => opened;
    describe('stored objects can be read', () => readsObjects(store));
    describe('incomplete objects are not stored', () => rejectsIncomplete(store));
    describe('objects are never overwritten', () => neverOverwrites(store));
    describe('removed objects do not exist', () => removesObjects(store));
    describe('concurrent put and remove', () => removesDuringPuts(store));
    test('the check of a working store passes', () => store().check());
  });
}

function readsObjects(store: () => ObjectStore): void {
  test.for([0, 1, MIB - 1, MIB, 5 * MIB])('%i bytes, with their length and digest', async (length) => {
    const [key, content] = [originalOf(randomUUID()), randomBytes(length)];
    expect(await store().put(key, inChunks(content, 64 * 1024), length)).toEqual({
      sizeBytes: length,
      sha256: sha256(content),
    });
    expect(await store().size(key)).toBe(length);
    expect((await buffer(store().stream(key))).equals(content)).toBe(true);
  });

  test.for([1, 1000, 3 * MIB])('chunks of %i bytes, empty ones among them', async (length) => {
    const [key, content] = [originalOf(randomUUID()), randomBytes(Math.min(length * 5000, 4 * MIB))];
    expect(await store().put(key, withEmptyChunks(inChunks(content, length)), 10 * MIB)).toMatchObject({
      sha256: sha256(content),
    });
    expect((await buffer(store().stream(key))).equals(content)).toBe(true);
  });

  test('any range, both ends inclusive', async () => {
    const [key, content] = [originalOf(randomUUID()), randomBytes(3 * MIB)];
    await store().put(key, inChunks(content, 100_000), content.length);
    for (const range of [
      { start: 0, end: 0 },
      { start: 5, end: 1_000_000 },
      { start: MIB, end: 2 * MIB - 1 },
      { start: 3 * MIB - 1, end: 3 * MIB - 1 },
    ]) {
      expect(
        content.subarray(range.start, range.end + 1).equals(await buffer(store().stream(key, range))),
      ).toBe(true);
    }
  });

  test.for([0, 1, MIB, MIB + 1])('%i bytes in one read; above 1 MiB only the size', async (length) => {
    const [key, content] = [variantKey(randomUUID(), 'w640.avif'), randomBytes(length)];
    await store().put(key, inChunks(content, MIB), length);
    const whole = length > MIB ? { sizeBytes: length } : { sizeBytes: length, bytes: content };
    expect(await store().read(key)).toEqual(whole);
    expect(await store().read(key, Buffer.alloc(MIB))).toEqual(whole);
    const opened = await store().open?.(key);
    if (opened) expect([opened.sizeBytes, await buffer(opened.body)]).toEqual([length, content]);
  });
}

function rejectsIncomplete(store: () => ObjectStore): void {
  const failure = new Error('connection lost');
  const badSources: [string, ObjectStoreErrorReason, () => AsyncIterable<Uint8Array>][] = [
    ['one byte too many', 'too_long', () => inChunks(randomBytes(2 * MIB + 1), 64 * 1024)],
    ['a source without end', 'too_long', endless],
    ['a source that fails after the first bytes', 'cut_short', () => failing(10, failure)],
    ['a source that fails after megabytes', 'cut_short', () => failing(2 * MIB, failure)],
    ['a stream that fails before anything was read', 'cut_short', () => failingEarly(failure)],
  ];
  test.for(badSources)('%s', async ([, reason, source]) => {
    const asset = randomUUID();
    const error = await refusal(store().put(originalOf(asset), source(), 2 * MIB));
    expect(error).toMatchObject({ reason, ...(reason === 'cut_short' && { cause: failure }) });
    expect(await store().size(originalOf(asset))).toBeUndefined();
    expect(await listed(store(), originalPrefix(asset))).toEqual([]);
    expect(
      (await store().put(originalOf(asset), inChunks(Buffer.from('again'), 9), 5)).sizeBytes,
      'the key can still be used',
    ).toBe(5);
  });

  test('a stream closed before its end is cut short', async () => {
    let reads = 0;
    const source = new Readable({
      read() {
        reads += 1;
        if (reads <= 10) this.push(randomBytes(1000));
        else this.destroy();
      },
    });
    expect(await refusal(store().put(originalOf(randomUUID()), source, MIB))).toMatchObject({
      reason: 'cut_short',
    });
  });

  test('a source that is too long is closed', async () => {
    const source = Readable.from(endless());
    await refusal(store().put(originalOf(randomUUID()), source, 1000));
    expect(source.destroyed).toBe(true);
  });
}

function neverOverwrites(store: () => ObjectStore): void {
  test('a second put of a key is rejected and changes nothing', async () => {
    const key = originalOf(randomUUID());
    await store().put(key, inChunks(Buffer.from('first'), 9), 9);
    expect(await refusal(store().put(key, inChunks(Buffer.from('second'), 9), 9))).toMatchObject({
      reason: 'exists',
    });
    expect(await text(store(), key)).toBe('first');
  });

  test('of 50 concurrent puts one succeeds, and its bytes are complete', async () => {
    const key = originalOf(randomUUID());
    const contents = Array.from({ length: 50 }, () => randomBytes(200_000));
    const puts = await Promise.allSettled(
      contents.map((content) => store().put(key, inChunks(content, 30_000), MIB)),
    );
    const winners = contents.filter((_, index) => puts[index]?.status === 'fulfilled');
    expect(winners).toHaveLength(1);
    expect(winners[0]?.equals(await buffer(store().stream(key)))).toBe(true);
    expect(
      puts.filter((put) => put.status === 'rejected' && (put.reason as ObjectStoreError).reason === 'exists'),
    ).toHaveLength(49);
  });
}

function removesObjects(store: () => ObjectStore): void {
  test('a missing object has no size and no bytes; its stream fails; removing it is no error', async () => {
    const key = originalOf(randomUUID());
    expect(await store().size(key)).toBeUndefined();
    expect(await store().read(key)).toBeUndefined();
    expect(await store().open?.(key)).toBeUndefined();
    await expect(buffer(store().stream(key))).rejects.toThrow();
    await store().remove(key);
    expect(await store().removeAll(originalPrefix(randomUUID()))).toBe(0);
  });

  test('one object; its key can be used again', async () => {
    const [asset, text] = [randomUUID(), Buffer.from('frame')];
    for (const file of ['a.m4s', 'b.m4s'])
      await store().put(renditionKey(asset, '1-1', file), inChunks(text, 9), 9);
    await store().remove(renditionKey(asset, '1-1', 'a.m4s'));
    expect(await listed(store(), renditionsPrefix(asset))).toEqual([renditionKey(asset, '1-1', 'b.m4s')]);
    await store().put(renditionKey(asset, '1-1', 'a.m4s'), inChunks(text, 9), 9);
  });

  test('all objects below a prefix, and no others', async () => {
    const [asset, other] = [randomUUID(), randomUUID()];
    const [early, late] = [renditionsOf(asset, '1-1'), renditionsOf(asset, '1-10')];
    const beside = [originalOf(asset), variantKey(asset, 'w64.webp'), ...renditionsOf(other, '1-1')];
    for (const key of [...early, ...late, ...beside])
      await store().put(key, inChunks(Buffer.from(key), 9), 200);

    expect(await listed(store(), renditionsPrefix(asset))).toEqual([...early, ...late].sort());
    const sizes = new Map<ObjectKey, number>();
    for await (const { key, sizeBytes } of store().listSizes(renditionsPrefix(asset)))
      sizes.set(key, sizeBytes);
    expect(sizes).toEqual(new Map([...early, ...late].map((key) => [key, key.length])));
    expect(await store().removeAll(renditionPrefix(asset, '1-1'))).toBe(2);
    expect(await listed(store(), renditionsPrefix(asset))).toEqual(late);
    expect(await store().removeAll(renditionsPrefix(asset))).toBe(2);
    expect(await store().removeAll(renditionsPrefix(asset))).toBe(0);
    for (const key of beside) expect(await text(store(), key)).toBe(key);
  });

  test('the list of a kind contains every asset', async () => {
    const assets = Array.from({ length: 20 }, () => randomUUID());
    for (const key of assets.flatMap((asset) => [originalOf(asset), variantKey(asset, 'w64.webp')]))
      await store().put(key, inChunks(Buffer.from(key), 99), 99);
    const originals = await listed(store(), 'originals/' as ObjectKey);
    expect(originals).toEqual(expect.arrayContaining(assets.map(originalOf)));
    expect(originals.filter((key) => !key.startsWith('originals/'))).toEqual([]);
  });
}

function removesDuringPuts(store: () => ObjectStore): void {
  test('no put fails, and every object is complete or absent', async () => {
    const asset = randomUUID();
    const content = randomBytes(100_000);
    const keys = Array.from({ length: 60 }, (_, index) => renditionKey(asset, '1-1', `s${index}.m4s`));
    const put = (key: ObjectKey) => store().put(key, inChunks(content, 30_000), MIB);
    const putAll = async () => {
      for (let key = keys.pop(); key; key = keys.pop()) await put(key);
    };
    let putting = true;
    const removeAndCollectSizes = async () => {
      const sizes = new Set<number | undefined>();
      while (putting) {
        for (const key of await listed(store(), renditionsPrefix(asset))) sizes.add(await store().size(key));
        for (const prefix of assetPrefixes(asset)) await store().removeAll(prefix);
      }
      return [...sizes].filter((size) => size !== undefined);
    };
    const collecting = removeAndCollectSizes();
    await Promise.all([putAll(), putAll(), putAll(), putAll()]).finally(() => {
      putting = false;
    });
    expect((await collecting).filter((size) => size !== content.length)).toEqual([]);

    await put(renditionKey(asset, '1-1', 'last.m4s'));
    const left = await listed(store(), renditionsPrefix(asset));
    expect(left).toContain(renditionKey(asset, '1-1', 'last.m4s'));
    for (const key of left)
      expect(content.equals((await store().read(key))?.bytes ?? randomBytes(1))).toBe(true);
  });
}

const renditionsOf = (asset: string, folder: string) =>
  ['a.m4s', 'b.m4s'].map((file) => renditionKey(asset, folder, file));
const sha256 = (content: Buffer) => createHash('sha256').update(content).digest('hex');
const text = async (store: ObjectStore, key: ObjectKey) => (await buffer(store.stream(key))).toString();
const listed = async (store: ObjectStore, prefix: ObjectKey) => {
  const keys: ObjectKey[] = [];
  for await (const key of store.list(prefix)) keys.push(key);
  return keys.sort();
};
const refusal = (put: Promise<unknown>) =>
  put.then(
    () => {
      throw new Error('was stored');
    },
    (error: unknown) => error,
  );
