// Builds HTTP responses for stored objects: range requests, ETag and HEAD; small objects from memory, large
// ones as a stream; encrypted where asked for.
import type { IncomingHttpHeaders } from 'node:http';
import { pipeline, Readable } from 'node:stream';
import { notFound, type ServiceError } from '../platform/http/errors.ts';
import { matchesEtag } from '../platform/http/headers.ts';
import type { StorageContext } from './context.ts';
import type { ObjectKey } from './object-key.ts';
import type { ObjectStore, OpenObject, ReadObject } from './object-store.ts';
import { parseRange } from './byte-range.ts';
import type { ResponseBuffers } from './response-buffers.ts';
import {
  createSegmentCipher,
  encryptedLength,
  encryptSegment,
  type SegmentCipher,
} from './segment-cipher.ts';

/** `etag` is without quotes. It can be derived from the key, because objects are never overwritten. */
type RequestedObject = {
  readonly key: ObjectKey;
  readonly etag: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Whether to cache the object in memory when it is read often. */
  readonly isCacheable?: boolean;
  /** The error of an object that is not stored; playback paths have their own. */
  readonly missing?: () => ServiceError;
};
/** `etag` differs from that of the plain bytes, and between keys. */
type EncryptedObject = RequestedObject & { readonly cipher: SegmentCipher };

type ObjectRequest = { readonly method: string; readonly headers: IncomingHttpHeaders };
type ObjectReply = {
  readonly raw: { readonly closed: boolean; once(event: 'close', then: () => void): unknown };
};
type ObjectExchange = { readonly request: ObjectRequest; readonly reply: ObjectReply };
type ObjectResponse = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | number>>;
  readonly body?: Uint8Array | Readable;
};

/** The bound operation that routes use. */
export type ObjectResponses = {
  sendObject(exchange: ObjectExchange, object: RequestedObject): Promise<ObjectResponse>;
  sendEncryptedObject(exchange: ObjectExchange, object: EncryptedObject): Promise<ObjectResponse>;
};

/** Prevents browsers from executing scripts in uploaded files. */
const SECURITY_HEADERS = {
  'content-security-policy': "sandbox; default-src 'none'",
  'x-content-type-options': 'nosniff',
};

export async function sendObject(
  ctx: StorageContext,
  { request, reply }: ObjectExchange,
  object: RequestedObject,
): Promise<ObjectResponse> {
  const etag = `"${object.etag}"`;
  const isNotModified = matchesEtag(request.headers['if-none-match'], etag);
  const isWithoutBody = isNotModified || request.method === 'HEAD';
  const found =
    (await findCached(ctx, object)) ??
    (isWithoutBody
      ? await readSize(ctx.store, object.key)
      : await readOrOpen(ctx, { request, reply }, object.key));
  if (!found) throw (object.missing ?? objectNotFound)();
  const { sizeBytes, bytes, body } = found;
  return respond(request, {
    etag,
    headers: object.headers,
    sizeBytes,
    open: (range) =>
      bytes?.subarray(range.start, range.end + 1) ?? body ?? ctx.store.stream(object.key, range),
  });
}

type SentBytes = Pick<RequestedObject, 'etag' | 'headers'> & { readonly bytes: Uint8Array };

/** Sends bytes that are not stored like those of an object. */
export const sendBytes = (
  { request }: Pick<ObjectExchange, 'request'>,
  { bytes, etag, headers }: SentBytes,
): ObjectResponse =>
  respond(request, {
    etag: `"${etag}"`,
    headers,
    sizeBytes: bytes.length,
    open: ({ start, end }) => bytes.subarray(start, end + 1),
  });

type Representation = {
  /** In quotes. */
  readonly etag: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly sizeBytes: number;
  /** Called once at most. Positions of the first and the last byte. */
  readonly open: (range: { readonly start: number; readonly end: number }) => Uint8Array | Readable;
};

function respond(
  { method, headers: { range: header, ...sent } }: ObjectRequest,
  { etag, sizeBytes, open, ...given }: Representation,
): ObjectResponse {
  const headers = { ...SECURITY_HEADERS, ...given.headers, etag, 'accept-ranges': 'bytes' };
  if (matchesEtag(sent['if-none-match'], etag)) return { status: 304, headers };
  const range = (sent['if-range'] ?? etag) === etag ? parseRange(header, sizeBytes) : undefined;
  if (range === 'unsatisfiable')
    return { status: 416, headers: { ...headers, 'content-range': `bytes */${sizeBytes}` } };
  const { start, end } = range ?? { start: 0, end: sizeBytes - 1 };
  const length = end - start + 1;
  // HEAD needs a stream too, because Fastify sets Content-Length of any other empty body to 0.
  const body = method === 'HEAD' ? Readable.from([]) : open({ start, end });
  if (!range) return { status: 200, headers: { ...headers, 'content-length': length }, body };
  return {
    status: 206,
    headers: { ...headers, 'content-length': length, 'content-range': `bytes ${start}-${end}/${sizeBytes}` },
    body,
  };
}

/** Ranges are ignored (RFC 9110, 14.2), because a range of the ciphertext depends on all bytes before it. */
export async function sendEncryptedObject(
  ctx: StorageContext,
  { request }: Pick<ObjectExchange, 'request'>,
  object: EncryptedObject,
): Promise<ObjectResponse> {
  const etag = `"${object.etag}"`;
  const isNotModified = matchesEtag(request.headers['if-none-match'], etag);
  const isWithoutBody = isNotModified || request.method === 'HEAD';
  const found = isWithoutBody ? await readSize(ctx.store, object.key) : await readEncrypted(ctx, object);
  if (!found) throw (object.missing ?? objectNotFound)();
  const headers = { ...SECURITY_HEADERS, ...object.headers, etag, 'accept-ranges': 'none' };
  if (isNotModified) return { status: 304, headers };
  return {
    status: 200,
    headers: { ...headers, 'content-length': encryptedLength(found.sizeBytes) },
    body: found.body ?? Readable.from([]),
  };
}

type EncryptedBody = { readonly sizeBytes: number; readonly body?: Uint8Array | Readable };

/** A slow client holds the ciphertext of at most 1 MiB, or the buffers of a stream. */
async function readEncrypted(
  ctx: StorageContext,
  object: EncryptedObject,
): Promise<EncryptedBody | undefined> {
  const { store } = ctx;
  const { key, cipher } = object;
  const cached = await findCached(ctx, object);
  if (cached?.bytes) return { sizeBytes: cached.sizeBytes, body: encryptSegment(cipher, cached.bytes) };
  if (store.open) {
    const opened = await store.open(key);
    return opened && { sizeBytes: opened.sizeBytes, body: streamEncrypted(opened.body, cipher) };
  }
  const read = cached ?? (await readAndEncrypt(ctx, object));
  if (!read || read.body) return read;
  return { sizeBytes: read.sizeBytes, body: streamEncrypted(store.stream(key), cipher) };
}

/** Only the size of objects larger than 1 MiB. */
async function readAndEncrypt(
  { store, buffers }: StorageContext,
  { key, cipher }: EncryptedObject,
): Promise<EncryptedBody | undefined> {
  const acquired = buffers.acquire();
  try {
    const found = await store.read(key, acquired?.buffer);
    if (!found?.bytes) return found;
    return { sizeBytes: found.sizeBytes, body: encryptSegment(cipher, found.bytes) };
  } finally {
    acquired?.release();
  }
}

/** An error of the source reaches the reader of the result; when that is closed, the source is closed too. */
const streamEncrypted = (source: Readable, cipher: SegmentCipher): Readable =>
  pipeline(source, createSegmentCipher(cipher), () => undefined);

const objectNotFound = () => notFound('This file is not stored');

type FoundObject = ReadObject & Partial<OpenObject>;

const findCached = (
  { store, objectCache }: StorageContext,
  { key, isCacheable }: RequestedObject,
): FoundObject | undefined | Promise<FoundObject | undefined> =>
  isCacheable ? objectCache.find(key, () => store.read(key)) : undefined;

/** A range depends on the size, so that a remote object is opened at once only when all of it is sent. */
async function readOrOpen(
  { store, buffers }: StorageContext,
  { request, reply }: ObjectExchange,
  key: ObjectKey,
): Promise<FoundObject | undefined> {
  if (!store.open) return readIntoBuffer(store, buffers.acquire(), { reply, key });
  return request.headers.range === undefined ? store.open(key) : readSize(store, key);
}

async function readSize(store: ObjectStore, key: ObjectKey): Promise<FoundObject | undefined> {
  const sizeBytes = await store.size(key);
  return sizeBytes === undefined ? undefined : { sizeBytes };
}

/** Allocates new memory when all buffers are in use. */
async function readIntoBuffer(
  store: ObjectStore,
  acquired: ReturnType<ResponseBuffers['acquire']>,
  { reply: { raw }, key }: { reply: ObjectReply; key: ObjectKey },
): Promise<ReadObject | undefined> {
  if (!acquired) return store.read(key);
  const { buffer, release } = acquired;
  const found = await store.read(key, buffer).catch((error: unknown) => {
    release();
    throw error;
  });
  // The buffer must not be reused before the response is sent or the socket is closed.
  if (found?.bytes && !raw.closed) raw.once('close', release);
  else release();
  return found;
}
