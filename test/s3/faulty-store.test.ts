// A faulty S3 store never leads to a lost, partial or wrong object.
import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import { ListMultipartUploadsCommand, ListObjectsV2Command, PutObjectCommand } from '@aws-sdk/client-s3';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { type ObjectKey, uploadKey } from '../../service/src/storage/object-key.ts';
import type { PartialObject } from '../../service/src/storage/object-store.ts';
import { openS3ObjectStore, type S3ObjectStore } from '../../service/src/storage/s3-object-store.ts';
import {
  type FaultyS3,
  isComplete,
  isGet,
  isPart,
  isPut,
  startFaultyS3,
} from '../support/store/faulty-s3.ts';
import { createBucket, describeS3, reachedBy, type TestBucket } from '../support/store/s3.ts';

const MIB = 1024 ** 2;
/** On a busy machine a store that works is silent for more than a second. */
const TIMEOUTS = { connect: 4000, idle: 3000, request: 40_000 };
const UNAVAILABLE = { code: 'UNAVAILABLE' };

const newKey = () => uploadKey(randomUUID(), randomUUID());
async function* inChunks(content: Buffer): AsyncGenerator<Uint8Array> {
  for (let start = 0; start < content.length; start += 64 * 1024)
    yield content.subarray(start, start + 64 * 1024);
}

/** Repeats what the store could not do, as clients do. */
async function untilAvailable<T>(work: () => Promise<T>): Promise<T> {
  for (;;) {
    const result = await work().catch((error: unknown) => ({ error }));
    if (!(typeof result === 'object' && result && 'error' in result)) return result;
    expect(result.error).toMatchObject(UNAVAILABLE);
  }
}

describeS3('a faulty store', () => {
  let bucket: TestBucket;
  let proxy: FaultyS3;
  let store: S3ObjectStore;
  beforeAll(async () => {
    bucket = await createBucket();
    proxy = await startFaultyS3(bucket.location.endpoint ?? '');
    store = openS3ObjectStore(reachedBy(bucket, proxy.url).location, {
      timeouts: TIMEOUTS,
      sources: [`${bucket.location.bucket}/films/`],
      maxWholeBytes: 4 * MIB,
    });
  });
  afterEach(() => proxy?.heal());
  afterAll(async () => {
    store?.close();
    await proxy?.stop();
  });

  const put = (key: ObjectKey, content: Buffer) => store.put(key, inChunks(content), 64 * MIB);
  const storedBytes = async (key: ObjectKey) => {
    proxy.heal();
    return buffer(store.stream(key));
  };
  const sameBytes = (one: Buffer, other: Buffer) => expect(one.equals(other)).toBe(true);
  /** Objects and unfinished uploads of a key. */
  const traces = async (key: ObjectKey) => {
    const at = { Bucket: bucket.location.bucket, Prefix: key };
    const [objects, uploads] = await Promise.all([
      bucket.client.send(new ListObjectsV2Command(at)),
      bucket.client.send(new ListMultipartUploadsCommand(at)),
    ]);
    return [...(objects.Contents ?? []), ...(uploads.Uploads ?? [])];
  };
  const [small, large] = [randomBytes(200_000), randomBytes(20 * MIB)];

  test.for(['busy', 'silent', 'lost', 'corrupt'] as const)(
    'a put whose first request is %s ends whole, or fails and leaves nothing',
    async (fault) => {
      const key = newKey();
      proxy.fail(fault, isPut, 1);
      const result = await put(key, small).catch((error: unknown) => error);
      if (fault === 'corrupt') expect(result).toMatchObject(UNAVAILABLE);
      else expect(result).toMatchObject({ sizeBytes: small.length });
      if (fault === 'corrupt') expect(await traces(key)).toEqual([]);
      else sameBytes(await storedBytes(key), small);
    },
  );

  test.for(['busy', 'silent', 'corrupt'] as const)(
    'a store that is always %s refuses small and large objects as unavailable, and nothing of them is left',
    async (fault) => {
      for (const content of [small, large]) {
        const key = newKey();
        proxy.fail(fault, isPut);
        await expect(put(key, content)).rejects.toMatchObject(UNAVAILABLE);
        proxy.heal();
        expect(await traces(key)).toEqual([]);
      }
    },
  );

  test('a large object whose parts fail now and then is whole', async () => {
    const key = newKey();
    for (const fault of ['busy', 'lost', 'silent'] as const) proxy.fail(fault, isPart, 1);
    expect(await put(key, large)).toEqual({
      sizeBytes: large.length,
      sha256: createHash('sha256').update(large).digest('hex'),
    });
    sameBytes(await storedBytes(key), large);
  });

  test('a lost response to the completion of an upload does not matter', async () => {
    const key = newKey();
    proxy.fail('lost', isComplete);
    expect(await put(key, large)).toMatchObject({ sizeBytes: large.length });
    sameBytes(await storedBytes(key), large);
  });

  test('a lost response to the completion of a copy does not matter, a copy of before does', async () => {
    const at = { Bucket: bucket.location.bucket, Key: 'films/large.mp4' };
    await bucket.client.send(new PutObjectCommand({ ...at, Body: large }));
    const found = await store.sources?.find(`s3://${at.Bucket}/${at.Key}`);
    if (!found) throw new Error('the store has no sources');
    const { signal } = new AbortController();
    let to = newKey();
    const copy = () => store.sources?.copy(found, { to, isMove: false, signal });
    for (const times of [1, 99]) {
      to = newKey();
      proxy.fail('lost', isComplete, times);
      expect(await copy()).toMatchObject({ sizeBytes: large.length });
      sameBytes(await storedBytes(to), large);
    }
    proxy.fail('busy', isComplete);
    await expect(copy()).rejects.toMatchObject(UNAVAILABLE);
    expect(await traces(to)).toHaveLength(1);
  });

  test('an upload that the store never completes leaves nothing', async () => {
    const key = newKey();
    proxy.fail('busy', isComplete);
    await expect(put(key, large)).rejects.toMatchObject(UNAVAILABLE);
    expect(await traces(key)).toEqual([]);
  });

  test('a put whose response is lost does not pass for its predecessor', async () => {
    const key = newKey();
    await put(key, small);
    proxy.fail('lost', isPut, 1);
    await expect(put(key, randomBytes(small.length))).rejects.toMatchObject({ reason: 'exists' });
    sameBytes(await storedBytes(key), small);
  });

  test.for(['busy', 'lost', 'corrupt'] as const)(
    'a partial object whose requests are %s at first is whole in the end, and leaves nothing else',
    async (fault) => {
      const key = newKey();
      let partial: PartialObject = { key, length: 0, state: null };
      for (const end of [7 * MIB, 17 * MIB, large.length]) {
        const rest = large.subarray(partial.length, end);
        proxy.fail(fault, isPut, 4);
        proxy.fail('cut', isGet, 1);
        partial = await untilAvailable(() => store.partial.append(partial, inChunks(rest), 64 * MIB));
        expect(partial.length).toBe(end);
      }
      proxy.fail(fault, (request) => isComplete(request) || isPart(request), 4);
      await untilAvailable(() => store.partial.finish(partial));
      sameBytes(await storedBytes(key), large);
      expect(await traces(key)).toHaveLength(1);
    },
  );

  test('parts that another process replaced do not become an object', async () => {
    const key = newKey();
    const partial = await store.partial.append({ key, length: 0, state: null }, inChunks(large), 64 * MIB);
    await store.partial.append({ ...partial, length: 8 * MIB }, inChunks(large), 64 * MIB);
    await expect(store.partial.finish(partial)).rejects.toMatchObject({ reason: 'lost' });
    expect(await store.size(key)).toBeUndefined();
  });

  test.for(['cut', 'stalled', 'busy', 'silent'] as const)(
    'reads continue after a %s response',
    async (fault) => {
      const [key, smallKey] = [newKey(), newKey()];
      await put(key, large);
      await put(smallKey, small);
      proxy.fail(fault, isGet, 1);
      sameBytes(await buffer(store.stream(key)), large);
      proxy.fail(fault, isGet, 1);
      sameBytes(
        await buffer(store.stream(key, { start: MIB, end: 9 * MIB })),
        large.subarray(MIB, 9 * MIB + 1),
      );
      proxy.fail(fault, isGet, 1);
      expect((await store.read(smallKey))?.bytes).toEqual(small);
    },
  );

  test.for(['busy', 'silent'] as const)(
    'reads from a store that is always %s are unavailable',
    async (fault) => {
      const key = newKey();
      await put(key, small);
      proxy.fail(fault);
      await expect(store.read(key)).rejects.toMatchObject(UNAVAILABLE);
      await expect(store.size(key)).rejects.toMatchObject(UNAVAILABLE);
      await expect(buffer(store.stream(key))).rejects.toMatchObject(UNAVAILABLE);
      await expect(store.removeAll('originals/' as ObjectKey)).rejects.toMatchObject(UNAVAILABLE);
      await expect(store.check()).rejects.toMatchObject(UNAVAILABLE);
    },
  );

  test('a reader may pause for longer than a connection may be idle', async () => {
    const key = newKey();
    await put(key, large);
    const received: Uint8Array[] = [];
    for await (const chunk of store.stream(key)) {
      if (received.length === 0) await pause(2 * TIMEOUTS.idle);
      received.push(chunk);
    }
    sameBytes(Buffer.concat(received), large);
    expect(proxy.requests.filter(isGet).length).toBeGreaterThan(1);
  });

  test('a stream that its reader closes frees its connection', async () => {
    const key = newKey();
    await put(key, large);
    proxy.fail('stalled', isGet);
    const stream = store.stream(key);
    for await (const _ of stream) break;
    expect(stream.destroyed).toBe(true);
    proxy.heal();
    await store.remove(key);
    expect(await store.size(key)).toBeUndefined();
  });

  test('a missing bucket is no missing object', async () => {
    const other = openS3ObjectStore({ ...bucket.location, bucket: 'no-such-bucket' }, { timeouts: TIMEOUTS });
    await expect(other.size(newKey())).rejects.toMatchObject(UNAVAILABLE);
    await expect(other.read(newKey())).rejects.toMatchObject(UNAVAILABLE);
    await expect(put.call(null, newKey(), small)).resolves.toMatchObject({ sizeBytes: small.length });
    await expect(other.put(newKey(), inChunks(small), MIB)).rejects.toMatchObject(UNAVAILABLE);
    other.close();
  });
});
