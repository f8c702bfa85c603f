// Answers with a stored object: ranges, ETag, HEAD; small ones from memory, large ones as a stream.
import type { IncomingHttpHeaders } from 'node:http';
import { Readable } from 'node:stream';
import { notFound, type ServiceError } from '../platform/errors.ts';
import { matchesEtag } from '../platform/http/etag.ts';
import type { ObjectKey } from './object-key.ts';
import type { ObjectStore, ReadObject } from './object-store.ts';
import { parseRange } from './byte-range.ts';
import { lendBuffer } from './response-buffers.ts';

/** The object that is asked for. `etag` without quotes: objects are never written twice, so their name is enough. */
type AskedObject = {
  readonly key: ObjectKey;
  readonly etag: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The error of an object that is not stored; playback paths have their own. */
  readonly missing?: () => ServiceError;
};
type Request = { readonly method: string; readonly headers: IncomingHttpHeaders };
type Reply = { readonly raw: { readonly closed: boolean; once(event: 'close', then: () => void): unknown } };
type Exchange = { readonly request: Request; readonly reply: Reply };
type ObjectAnswer = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | number>>;
  readonly body?: Uint8Array | Readable;
};

/** How routes answer with an object. */
export type ObjectResponses = { sendObject(exchange: Exchange, object: AskedObject): Promise<ObjectAnswer> };

/** Whatever the bytes turn out to be, a browser runs nothing in them. */
const INERT = {
  'content-security-policy': "sandbox; default-src 'none'",
  'x-content-type-options': 'nosniff',
};

export async function sendObject(
  { store }: { store: ObjectStore },
  { request, reply }: Exchange,
  object: AskedObject,
): Promise<ObjectAnswer> {
  const etag = `"${object.etag}"`;
  const isKnown = matchesEtag(request.headers['if-none-match'], etag);
  const found =
    isKnown || request.method === 'HEAD'
      ? await lengthOf(store, object.key)
      : await readLent(store, reply, object.key);
  if (!found) throw (object.missing ?? objectNotFound)();
  const headers = { ...INERT, ...object.headers, etag, 'accept-ranges': 'bytes' };
  if (isKnown) return { status: 304, headers };
  const { sizeBytes, bytes } = found;
  const { range: asked, 'if-range': condition = etag } = request.headers;
  const range = condition === etag ? parseRange(asked, sizeBytes) : undefined;
  if (range === 'unsatisfiable')
    return { status: 416, headers: { ...headers, 'content-range': `bytes */${sizeBytes}` } };
  const { start, end } = range ?? { start: 0, end: sizeBytes - 1 };
  const length = end - start + 1;
  // HEAD gets a stream too, because the framework would set the length of any other empty body to 0.
  const body =
    request.method === 'HEAD'
      ? Readable.from([])
      : (bytes?.subarray(start, end + 1) ?? store.stream(object.key, range));
  if (!range) return { status: 200, headers: { ...headers, 'content-length': length }, body };
  return {
    status: 206,
    headers: { ...headers, 'content-length': length, 'content-range': `bytes ${start}-${end}/${sizeBytes}` },
    body,
  };
}

const objectNotFound = () => notFound('This file is not stored');

async function lengthOf(store: ObjectStore, key: ObjectKey): Promise<ReadObject | undefined> {
  const sizeBytes = await store.size(key);
  return sizeBytes === undefined ? undefined : { sizeBytes };
}

/** When every buffer is lent, memory is fresh. */
async function readLent(store: ObjectStore, { raw }: Reply, key: ObjectKey): Promise<ReadObject | undefined> {
  const lent = lendBuffer();
  if (!lent) return store.read(key);
  const { buffer, giveBack } = lent;
  const found = await store.read(key, buffer).catch((error: unknown) => {
    giveBack();
    throw error;
  });
  // Not before the last byte has left, or the socket is gone.
  if (found?.bytes && !raw.closed) raw.once('close', giveBack);
  else giveBack();
  return found;
}
