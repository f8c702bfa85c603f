// Objects that arrive in several requests: parts of a multipart upload, and a tail shorter than a part.
import { hash, randomUUID } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import {
  AbortMultipartUploadCommand,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  ListMultipartUploadsCommand,
  PutObjectCommand,
} from '@aws-sdk/client-s3';
import { type ObjectKey, tailKey, tailPrefix } from '../object-key.ts';
import {
  type DirectUploads,
  ObjectStoreError,
  type PartialObject,
  type PartialObjects,
  type StoredPart,
} from '../object-store.ts';
import type { S3Connection } from './connection.ts';
import { hasName } from './errors.ts';
import { type MultipartPut, openMultipartPut } from './multipart-put.ts';
import type { PartMemory } from './part-memory.ts';
import { collectParts, type ObjectPart, partBytesFor } from './parts.ts';
import { openObject, sizeOf } from './read.ts';

type PartialStorage = {
  readonly s3: S3Connection;
  readonly memory: PartMemory;
  readonly direct: Pick<DirectUploads, 'listParts' | 'completeMultipart'>;
  readonly removeAll: (prefix: ObjectKey) => Promise<unknown>;
};

/**
 * Part n holds the bytes from (n - 1) * partBytes, so a repeated call replaces the parts of an interrupted
 * one. Every tail is an object of its own: the one that a recorded state names is never changed.
 */
type PartialState = {
  readonly partBytes: number;
  /** Absent while no part is full. */
  readonly uploadId?: string | undefined;
  /** Digest of the ETags of all parts: tells whether a process that lost its lease replaced one later. */
  readonly etags: string;
  readonly tail?: string | undefined;
  /** The tail of the state before, which is not needed once this state is recorded. */
  readonly previousTail?: string | undefined;
};

const PART_BYTES = partBytesFor(0);

/** A multiple by a power of two, so that the parts fit the segments in which an upload arrives. */
function newState(maxBytes: number): PartialState {
  let partBytes = PART_BYTES;
  while (partBytes < partBytesFor(maxBytes)) partBytes *= 2;
  return { partBytes, etags: '' };
}

const stateOf = ({ state }: PartialObject, maxBytes = 0): PartialState =>
  (state as PartialState | null) ?? newState(maxBytes);

export const openPartialObjects = (storage: PartialStorage): PartialObjects => ({
  append: (partial, bytes, maxBytes) => append(storage, partial, { bytes, maxBytes }),
  finish: (partial) => finish(storage, partial),
  discard: async (key) => {
    await abortUploads(storage.s3, key);
    await storage.removeAll(tailPrefix(key));
  },
});

type Addition = { readonly bytes: AsyncIterable<Uint8Array>; readonly maxBytes: number };

async function append(
  storage: PartialStorage,
  partial: PartialObject,
  { bytes, maxBytes }: Addition,
): Promise<PartialObject> {
  const { s3, memory } = storage;
  const { key, length } = partial;
  const before = stateOf(partial, maxBytes);
  const { partBytes } = before;
  const fullParts = Math.floor(length / partBytes);
  const start = fullParts * partBytes;
  if (before.previousTail !== undefined) await removeTail(s3, key, before.previousTail);
  const parts = collectParts(bytes, {
    maxBytes: maxBytes - start,
    partBytes,
    memory,
    firstNumber: fullParts + 1,
    head: readTail(s3, partial, before),
  });
  const written = await writeParts(storage, { key, state: before, heldBytes: length - start }, parts);
  return { key, length: start + written.bytes, state: written.state };
}

type Written = { readonly bytes: number; readonly state: PartialState };
type Writing = {
  readonly key: ObjectKey;
  readonly state: PartialState;
  /** Bytes that are stored already: those of the tail. */
  readonly heldBytes: number;
};

/** Returns when all parts and the new tail are stored. */
async function writeParts(
  { s3 }: PartialStorage,
  { key, state: before, heldBytes }: Writing,
  parts: AsyncIterable<ObjectPart>,
): Promise<Written> {
  let { uploadId, tail } = before;
  let multipart: MultipartPut | undefined;
  let bytes = 0;
  try {
    for await (const part of parts) {
      bytes += part.bytes.byteLength;
      if (part.bytes.byteLength === before.partBytes) {
        uploadId ??= await createUpload(s3, key);
        multipart ??= openMultipartPut(s3, { ...s3.at(key), UploadId: uploadId });
        await multipart.add(part);
        tail = undefined;
      } else if (bytes > heldBytes) tail = await putTail(s3, key, part.bytes);
    }
    const stored = (await multipart?.partsStored()) ?? [];
    const etags = digestOf(
      before.etags,
      stored.map(({ ETag = '' }) => ETag),
    );
    const previousTail = tail === before.tail ? undefined : before.tail;
    return { bytes, state: { partBytes: before.partBytes, uploadId, etags, tail, previousTail } };
  } catch (error) {
    await multipart?.cancel();
    throw toLost(error);
  }
}

/** The quotes around an ETag are no part of it, and not every response has them. */
const digestOf = (before: string, etags: readonly string[]): string =>
  etags.reduce((digest, etag) => hash('sha256', `${digest} ${etag.replaceAll('"', '')}`), before);

/** Ceph says NoSuchKey. */
const toLost = (error: unknown): unknown =>
  hasName(error, 'NoSuchUpload', 'NoSuchKey') ? lost(error) : error;

const lost = (cause?: unknown): ObjectStoreError => new ObjectStoreError('lost', { cause });

/** The bytes behind the last full part. */
async function* readTail(
  s3: S3Connection,
  { key, length }: PartialObject,
  { partBytes, tail }: PartialState,
): AsyncGenerator<Uint8Array> {
  const tailBytes = length % partBytes;
  if (tailBytes === 0) return;
  const found = tail === undefined ? undefined : await openObject(s3, tailKey(key, tail));
  if (found?.sizeBytes !== tailBytes) {
    found?.body.destroy();
    throw lost();
  }
  yield* found.body;
}

async function putTail(s3: S3Connection, key: ObjectKey, bytes: Buffer): Promise<string> {
  const tail = randomUUID();
  await putBytes(s3, { ...s3.at(tailKey(key, tail)), Body: bytes });
  return tail;
}

type NewBytes = { readonly Bucket: string; readonly Key: string; readonly Body: Buffer };

const putBytes = (s3: S3Connection, object: NewBytes & { readonly IfNoneMatch?: '*' }): Promise<unknown> =>
  s3.run((options) =>
    s3.client.send(new PutObjectCommand({ ...object, ContentLength: object.Body.byteLength }), options),
  );

const removeTail = (s3: S3Connection, key: ObjectKey, tail: string): Promise<unknown> =>
  s3.run((options) => s3.client.send(new DeleteObjectCommand(s3.at(tailKey(key, tail))), options));

/** An interrupted first call may have left an upload that no state names. */
async function createUpload(s3: S3Connection, key: ObjectKey): Promise<string> {
  await abortUploads(s3, key);
  const command = new CreateMultipartUploadCommand(s3.at(key));
  const { UploadId = '' } = await s3.run((options) => s3.client.send(command, options));
  return UploadId;
}

async function abortUploads(s3: S3Connection, key: ObjectKey): Promise<void> {
  const { Bucket, Key } = s3.at(key);
  const list = new ListMultipartUploadsCommand({ Bucket, Prefix: Key });
  const { Uploads = [] } = await s3.run((options) => s3.client.send(list, options));
  for (const { UploadId } of Uploads.filter((upload) => upload.Key === Key)) {
    const abort = new AbortMultipartUploadCommand({ Bucket, Key, UploadId });
    await s3
      .run((options) => s3.client.send(abort, options))
      .catch((error: unknown) => {
        if (!hasName(error, 'NoSuchUpload', 'NoSuchKey')) throw error;
      });
  }
}

/** Can be repeated, because a process may end at any point of it. */
async function finish(storage: PartialStorage, partial: PartialObject): Promise<void> {
  const isFinished = async () => (await sizeOf(storage.s3, partial.key)) === partial.length;
  if (!(await isFinished())) {
    try {
      await complete(storage, partial);
    } catch (error) {
      if (!(await isFinished())) throw toLost(error);
    }
  }
  await storage.removeAll(tailPrefix(partial.key));
}

async function complete(storage: PartialStorage, partial: PartialObject): Promise<void> {
  const { s3, memory, direct } = storage;
  const { key, length } = partial;
  const state = stateOf(partial);
  const { grow, release } = memory();
  try {
    await grow(length % state.partBytes);
    const tail = await buffer(readTail(s3, partial, state));
    const { uploadId } = state;
    if (uploadId === undefined) await putBytes(s3, { ...s3.at(key), Body: tail, IfNoneMatch: '*' });
    else {
      const number = Math.floor(length / state.partBytes) + 1;
      const last = { number, bytes: tail, isLast: true, release };
      const multipart = openMultipartPut(s3, { ...s3.at(key), UploadId: uploadId });
      if (tail.byteLength > 0) await multipart.add(last);
      const [sent] = await multipart.partsStored();
      const parts = assertParts(await direct.listParts({ key, uploadId }), partial);
      const etag = sent?.ETag ?? '';
      const sentPart = { partNumber: number, etag, sizeBytes: tail.byteLength };
      await direct.completeMultipart({ key, uploadId }, sent ? [...parts, sentPart] : parts);
    }
  } finally {
    release();
  }
}

/** Returns the full parts, if they are the recorded ones. An interrupted call may have written more. */
function assertParts(listed: readonly StoredPart[] | undefined, partial: PartialObject): StoredPart[] {
  const { partBytes, etags } = stateOf(partial);
  const fullParts = Math.floor(partial.length / partBytes);
  const parts = (listed ?? []).filter(({ partNumber }) => partNumber <= fullParts);
  const recorded = digestOf(
    '',
    parts.map(({ etag }) => etag),
  );
  const isWhole = parts.every(({ sizeBytes }) => sizeBytes === partBytes);
  if (parts.length !== fullParts || recorded !== etags || !isWhole) throw lost();
  return parts;
}
