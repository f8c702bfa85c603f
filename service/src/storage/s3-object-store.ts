// Object store in an S3-compatible bucket.
import {
  DeleteObjectCommand,
  DeleteObjectsCommand,
  HeadBucketCommand,
  ListObjectsV2Command,
  PutObjectCommand,
} from '@aws-sdk/client-s3';
import { unavailable } from '../platform/http/errors.ts';
import type { ObjectKey } from './object-key.ts';
import type { ListedObject, ObjectStore } from './object-store.ts';
import { bytesIn } from './received-bytes.ts';
import { openBucketSources } from './s3/bucket-sources.ts';
import { connect, type S3Connection, S3_TIMEOUTS, type S3Timeouts } from './s3/connection.ts';
import { copyObject } from './s3/copy.ts';
import { diagnose } from './s3/diagnose.ts';
import { openDirectUploads } from './s3/direct-uploads.ts';
import { openPartialObjects } from './s3/partial-objects.ts';
import { createPartMemory } from './s3/part-memory.ts';
import { putFile, putObject } from './s3/put.ts';
import { openObject, readSmall, sizeOf, streamObject } from './s3/read.ts';
import type { S3Location } from './storage-url.ts';

/** Memory for objects that clients or other servers send, and for those that the service itself made. */
const RECEIVED_BYTES = 384 * 1024 ** 2;
const OWN_BYTES = 128 * 1024 ** 2;
const MAX_MEMORY_WAIT_MS = 10_000;
/** Each write of a readiness check is billed. */
const WRITE_CHECK_EVERY_MS = 60_000;

export type S3ObjectStore = ObjectStore &
  Required<Pick<ObjectStore, 'direct' | 'diagnose' | 'open' | 'partial'>> & { close(): void };

type S3StoreOptions = {
  readonly timeouts?: S3Timeouts;
  /** The places of ADOPT_SOURCES; empty without it. */
  readonly sources?: readonly string[];
  /** Larger sources are copied in parts. */
  readonly maxWholeBytes?: number;
};

export function openS3ObjectStore(
  location: S3Location,
  { timeouts = S3_TIMEOUTS, sources = [], maxWholeBytes }: S3StoreOptions = {},
): S3ObjectStore {
  const s3 = connect(location, timeouts);
  const received = createPartMemory({ totalBytes: RECEIVED_BYTES, maxWaitMs: MAX_MEMORY_WAIT_MS });
  const own = createPartMemory({ totalBytes: OWN_BYTES, maxWaitMs: MAX_MEMORY_WAIT_MS });
  const putOwn = (key: ObjectKey, bytes: readonly Uint8Array[], maxBytes: number) =>
    putObject(s3, own, { key, bytes, maxBytes: Math.min(maxBytes, bytesIn(bytes)) });
  const direct = openDirectUploads(s3);
  const store = {
    put: (key, bytes, maxBytes) =>
      Symbol.asyncIterator in bytes
        ? putObject(s3, received, { key, bytes, maxBytes })
        : putOwn(key, bytes, maxBytes),
    putSmall: (key, chunks) => putOwn(key, chunks, Number.POSITIVE_INFINITY),
    putFile: (key, path) => putFile(s3, own, { key, path }),
    copy: (from, to) => copyObject(s3, { from, to }),
    size: (key) => sizeOf(s3, key),
    read: (key, into) => readSmall(s3, key, into),
    stream: (key, range) => streamObject(s3, key, range),
    open: (key) => openObject(s3, key),
    remove: async (key) => {
      await s3.run((options) => s3.client.send(new DeleteObjectCommand(s3.at(key)), options));
    },
    removeAll: (prefix) => removeAll(s3, prefix),
    list: (prefix) => keysBelow(s3, prefix),
    listSizes: (prefix, after) => objectsBelow(s3, prefix, after),
    listsInOrder: true,
    direct,
    ...(sources.length > 0 && { sources: openBucketSources(s3, { allowed: sources, maxWholeBytes }) }),
    partial: openPartialObjects({
      s3,
      memory: received,
      direct,
      removeAll: (prefix) => removeAll(s3, prefix),
    }),
    check: createCheck(s3),
  } satisfies ObjectStore;
  return {
    ...store,
    diagnose: (origins) => diagnose(s3, store, origins),
    close: s3.close,
  };
}

async function* keysBelow(s3: S3Connection, prefix: ObjectKey): AsyncGenerator<ObjectKey> {
  for await (const { key } of objectsBelow(s3, prefix)) yield key;
}

async function* objectsBelow(
  s3: S3Connection,
  prefix: ObjectKey,
  after?: ObjectKey,
): AsyncGenerator<ListedObject> {
  for await (const page of pagesOf(s3, prefix, after)) yield* page;
}

async function* pagesOf(
  s3: S3Connection,
  prefix: ObjectKey,
  after?: ObjectKey,
): AsyncGenerator<ListedObject[]> {
  const { Bucket, Key: Prefix } = s3.at(prefix);
  const StartAfter = after && s3.at(after).Key;
  for (let token: string | undefined; ; ) {
    const page = await s3.run((options) =>
      s3.client.send(
        new ListObjectsV2Command({ Bucket, Prefix, StartAfter, ContinuationToken: token }),
        options,
      ),
    );
    yield (page.Contents ?? []).map(({ Key = '', Size = 0, LastModified = new Date() }) => ({
      key: Key.slice(s3.location.prefix.length) as ObjectKey,
      sizeBytes: Size,
      modifiedAt: LastModified,
    }));
    if (!page.IsTruncated) return;
    token = page.NextContinuationToken;
  }
}

/** A page of a list has at most as many keys as one request can delete: 1000. */
async function removeAll(s3: S3Connection, prefix: ObjectKey): Promise<number> {
  const { bucket: Bucket, prefix: root } = s3.location;
  let removed = 0;
  for await (const page of pagesOf(s3, prefix)) {
    if (page.length === 0) continue;
    const Objects = page.map(({ key }) => ({ Key: `${root}${key}` }));
    const { Errors = [] } = await s3.run((options) =>
      s3.client.send(new DeleteObjectsCommand({ Bucket, Delete: { Objects, Quiet: true } }), options),
    );
    if (Errors[0]) throw unavailable(`The object store cannot delete: ${Errors[0].Code}`);
    removed += page.length;
  }
  return removed;
}

/** Tries to reach the bucket each time, and to write now and then. */
function createCheck(s3: S3Connection): () => Promise<void> {
  const Bucket = s3.location.bucket;
  const Key = `${s3.location.prefix}health/probe`;
  let writtenAt = Number.NEGATIVE_INFINITY;
  return async () => {
    await s3.run((options) => s3.client.send(new HeadBucketCommand({ Bucket }), options));
    if (performance.now() - writtenAt < WRITE_CHECK_EVERY_MS) return;
    await s3.run((options) => s3.client.send(new PutObjectCommand({ Bucket, Key, Body: 'probe' }), options));
    writtenAt = performance.now();
  };
}
