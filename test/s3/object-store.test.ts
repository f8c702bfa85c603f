// The S3 object store against a real S3 server: the contract of the port, and what only S3 has.
import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { ListMultipartUploadsCommand } from '@aws-sdk/client-s3';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { listedObjectsContract } from '../../service/src/storage/listed-objects.contract.ts';
import { otherPutsContract } from '../../service/src/storage/other-puts.contract.ts';
import { objectStoreContract } from '../../service/src/storage/object-store.contract.ts';
import {
  type ObjectKey,
  renditionKey,
  renditionsPrefix,
  uploadKey,
} from '../../service/src/storage/object-key.ts';
import { partialObjectsContract } from '../../service/src/storage/partial-objects.contract.ts';
import { openS3ObjectStore, type S3ObjectStore } from '../../service/src/storage/s3-object-store.ts';
import { createBucket, describeS3, type TestBucket } from '../support/store/s3.ts';

const MIB = 1024 ** 2;
const newKey = () => uploadKey(randomUUID(), randomUUID());

describeS3('Ceph', () => {
  objectStoreContract('a bucket', async () => openS3ObjectStore((await createBucket()).location));
  objectStoreContract('a folder of a bucket', async () =>
    openS3ObjectStore((await createBucket({ parameters: '&prefix=media/one' })).location),
  );
  otherPutsContract('a bucket', async () => openS3ObjectStore((await createBucket()).location));
  listedObjectsContract('a folder of a bucket', async () =>
    openS3ObjectStore((await createBucket({ parameters: '&prefix=media/one' })).location),
  );
  partialObjectsContract('a folder of a bucket', async () =>
    openS3ObjectStore((await createBucket({ parameters: '&prefix=media/one' })).location),
  );

  describe('a bucket', () => {
    let bucket: TestBucket;
    let store: S3ObjectStore;
    beforeAll(async () => {
      bucket = await createBucket();
      store = openS3ObjectStore(bucket.location);
    });
    afterAll(() => store?.close());

    const unfinished = async () => {
      const { Uploads = [] } = await bucket.client.send(
        new ListMultipartUploadsCommand({ Bucket: bucket.location.bucket }),
      );
      return Uploads;
    };

    test.for([8 * MIB, 8 * MIB + 1, 16 * MIB, 30 * MIB + 5])('stores %i bytes in parts', async (length) => {
      const [key, content] = [newKey(), randomBytes(length)];
      expect(await store.put(key, inChunks(content), 40 * MIB)).toEqual({
        sizeBytes: length,
        sha256: createHash('sha256').update(content).digest('hex'),
      });
      expect(content.equals(Buffer.concat(await store.stream(key).toArray()))).toBe(true);
    });

    test('stores one chunk that is larger than a part', async () => {
      const [key, content] = [newKey(), randomBytes(20 * MIB)];
      await store.put(key, once(content), 40 * MIB);
      expect(content.equals(Buffer.concat(await store.stream(key).toArray()))).toBe(true);
    });

    test.for([
      ['too much', 'too_long', (content: Buffer) => inChunks(content)],
      ['a source that fails', 'cut_short', failing],
    ] as const)('%s leaves neither an object nor parts', async ([, reason, source]) => {
      const key = newKey();
      await expect(store.put(key, source(randomBytes(20 * MIB)), 18 * MIB)).rejects.toMatchObject({ reason });
      expect(await store.size(key)).toBeUndefined();
      expect(await unfinished()).toEqual([]);
    });

    test('a large object does not replace another one', async () => {
      const [key, content] = [newKey(), randomBytes(17 * MIB)];
      await store.put(key, once(Buffer.from('first')), 5);
      await expect(store.put(key, inChunks(content), 40 * MIB)).rejects.toMatchObject({ reason: 'exists' });
      expect(await store.size(key)).toBe(5);
      expect(await unfinished()).toEqual([]);
    });

    test('opened objects that nobody reads free their connections', async () => {
      const [key, content] = [newKey(), randomBytes(3 * MIB)];
      await store.put(key, inChunks(content), 3 * MIB);
      for (let count = 0; count < 150; count += 1) (await store.open(key))?.body.destroy();
      const opened = await store.open(key);
      expect(content.equals(Buffer.concat((await opened?.body.toArray()) ?? []))).toBe(true);
    });

    test('slow readers do not delay other requests', async () => {
      const [key, content] = [newKey(), randomBytes(3 * MIB)];
      await store.put(key, inChunks(content), 3 * MIB);
      const slow = await Promise.all(Array.from({ length: 140 }, () => store.open(key)));
      expect(await store.size(key)).toBe(3 * MIB);
      await store.put(newKey(), once(Buffer.from('x')), 1);
      for (const opened of slow) opened?.body.destroy();
    });

    test('lists and removes more objects than one page has', async () => {
      const asset = randomUUID();
      const keys = Array.from({ length: 1100 }, (_, index) => renditionKey(asset, '1-1', `s${index}.m4s`));
      const remaining = keys.values();
      const putNext = async () => {
        for (const key of remaining) await store.put(key, once(Buffer.from('x')), 1);
      };
      await Promise.all(Array.from({ length: 16 }, putNext));
      const listed: ObjectKey[] = [];
      for await (const key of store.list(renditionsPrefix(asset))) listed.push(key);
      expect(listed.sort()).toEqual(keys.sort());
      expect(await store.removeAll(renditionsPrefix(asset))).toBe(1100);
      expect(await store.removeAll(renditionsPrefix(asset))).toBe(0);
    });

    test.for(['../../secret', 'a//b', '/etc/passwd', '', 'a/./b', 'a/b/..'] as ObjectKey[])(
      'the key "%s" is rejected',
      async (key) => {
        await expect(store.put(key, once(Buffer.from('x')), 1)).rejects.toThrow('not an object key');
        await expect(store.removeAll(key)).rejects.toThrow('not an object key');
      },
    );
  });
});

async function* inChunks(content: Buffer): AsyncGenerator<Uint8Array> {
  for (let start = 0; start < content.length; start += 64 * 1024)
    yield content.subarray(start, start + 64 * 1024);
}
async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}
async function* failing(content: Buffer): AsyncGenerator<Uint8Array> {
  yield* inChunks(content.subarray(0, 17 * MIB));
  throw new Error('the line went dead');
}
