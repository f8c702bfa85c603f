// The contract tests of object stores that take partial objects.
import { randomBytes, randomUUID } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import { beforeAll, describe, expect, test } from 'vitest';
import { uploadKey } from './object-key.ts';
import type { ObjectStore, PartialObject, PartialObjects, ObjectStoreErrorReason } from './object-store.ts';

const MIB = 1024 * 1024;
const MAX_BYTES = 64 * MIB;

type PartialStore = Pick<ObjectStore, 'size' | 'stream'> & { readonly partial: PartialObjects };

export function partialObjectsContract(name: string, open: () => Promise<PartialStore>): void {
  describe(`${name} takes partial objects, which`, () => {
    let opened: PartialStore;
    beforeAll(async () => {
      opened = await open();
    });
    appendsParts(() => opened);
    endsParts(() => opened);
    losesParts(() => opened);
  });
}

const newPartial = (): PartialObject => ({
  key: uploadKey(randomUUID(), randomUUID()),
  length: 0,
  state: null,
});

const stepsOn = (store: () => PartialStore) => {
  const append = (partial: PartialObject, bytes: AsyncIterable<Uint8Array>) =>
    store().partial.append(partial, bytes, MAX_BYTES);
  return {
    append,
    write: async (partial: PartialObject, bytes: Buffer): Promise<PartialObject> => {
      const { key, length, state } = await append(partial, inChunks(bytes, 64 * 1024));
      // The state is stored in the database.
      return { key, length, state: JSON.parse(JSON.stringify(state)) };
    },
    finish: (partial: PartialObject) => store().partial.finish(partial),
    discard: ({ key }: PartialObject) => store().partial.discard(key),
    size: ({ key }: PartialObject) => store().size(key),
    expectStored: async ({ key }: PartialObject, content: Buffer) =>
      expect((await buffer(store().stream(key))).equals(content)).toBe(true),
  };
};

function appendsParts(store: () => PartialStore): void {
  const { write, finish, size, expectStored } = stepsOn(store);

  test.for([
    ['one part', [3 * MIB + 7]],
    ['two parts', [MIB + 1, 2 * MIB]],
    ['parts that end at many offsets', [1, 5 * MIB, 8 * MIB - 1, 8 * MIB, 3, 8 * MIB + 1, 100, 20 * MIB]],
    ['parts of 8 MiB', [8 * MIB, 8 * MIB, 8 * MIB]],
    ['an empty part', [0, 100, 0, 9 * MIB, 0]],
  ] as const)('are no objects until they are finished, and then hold %s', async ([, lengths]) => {
    const content = randomBytes(lengths.reduce((sum, length) => sum + length, 0));
    let partial = newPartial();
    for (const length of lengths) {
      const end = partial.length + length;
      partial = await write(partial, content.subarray(partial.length, end));
      expect(partial.length).toBe(end);
    }
    expect(await size(partial)).toBeUndefined();
    await finish(partial);
    await expectStored(partial, content);
  });

  test.for([MIB, 8 * MIB, 9 * MIB])(
    'of %i bytes forget what was written and not recorded',
    async (length) => {
      const content = randomBytes(length + 10 * MIB);
      const recorded = await write(newPartial(), content.subarray(0, length));
      await write(recorded, randomBytes(17 * MIB));
      await write(recorded, randomBytes(5));
      const whole = await write(recorded, content.subarray(length));
      expect(whole.length).toBe(content.length);
      await finish(whole);
      await expectStored(whole, content);
    },
  );
}

function endsParts(store: () => PartialStore): void {
  const { append, write, finish, discard, expectStored } = stepsOn(store);

  test('end where they were recorded', async () => {
    const content = randomBytes(9 * MIB);
    const recorded = await write(newPartial(), content);
    await write(recorded, randomBytes(9 * MIB));
    await finish(recorded);
    await expectStored(recorded, content);
  });

  test.for([1000, 9 * MIB])('of %i bytes are finished once, however often', async (length) => {
    const content = randomBytes(length);
    const partial = await write(newPartial(), content);
    await Promise.all([finish(partial), finish(partial)]);
    await finish(partial);
    await discard(partial);
    await expectStored(partial, content);
  });

  test('have at most the maximum of bytes', async () => {
    const partial = await write(newPartial(), randomBytes(1000));
    const more = () => store().partial.append(partial, inChunks(randomBytes(11), 5), 1010);
    await expectRefusedWith('too_long', more);
    await expectRefusedWith('cut_short', () => append(partial, failing(MIB, new Error('cut'))));
    expect((await write(partial, randomBytes(10))).length).toBe(1010);
  });
}

function losesParts(store: () => PartialStore): void {
  const { append, write, finish, discard, size, expectStored } = stepsOn(store);

  test.for([1000, 8 * MIB, 9 * MIB])('of %i bytes are gone when they are discarded', async (length) => {
    const partial = await write(newPartial(), randomBytes(length));
    await discard(partial);
    await discard(partial);
    await expectRefusedWith('lost', () => write(partial, randomBytes(9 * MIB)));
    await expectRefusedWith('lost', () => finish(partial));
    expect(await size(partial)).toBeUndefined();
  });

  test('are lost if they have fewer bytes than they should', async () => {
    const partial = await write(newPartial(), randomBytes(1000));
    await expectRefusedWith('lost', () => write({ ...partial, length: 1001 }, randomBytes(10)));
    await expectRefusedWith('lost', () => finish({ ...partial, length: 1001 }));
  });

  test('keep what was recorded before a source failed', async () => {
    const content = randomBytes(9 * MIB);
    const partial = await write(newPartial(), content);
    await expectRefusedWith('cut_short', () => append(partial, failing(9 * MIB, new Error('cut'))));
    const whole = await write(partial, content);
    await finish(whole);
    await expectStored(whole, Buffer.concat([content, content]));
  });
}

const expectRefusedWith = (reason: ObjectStoreErrorReason, work: () => Promise<unknown>) =>
  expect(work()).rejects.toMatchObject({ reason });

async function* inChunks(bytes: Buffer, size: number): AsyncGenerator<Uint8Array> {
  for (let start = 0; start < bytes.length; start += size) yield bytes.subarray(start, start + size);
}

async function* failing(after: number, failure: Error): AsyncGenerator<Uint8Array> {
  yield* inChunks(randomBytes(after), 64 * 1024);
  throw failure;
}
