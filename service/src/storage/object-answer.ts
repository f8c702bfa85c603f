// Answers with a stored object: ranges, ETag, HEAD; small ones from memory, large ones as a stream.
import type { IncomingHttpHeaders } from 'node:http';
import { Readable } from 'node:stream';
import { notFound } from '../platform/errors.ts';
import { isHeld } from '../platform/http/etag.ts';
import type { ObjectKey } from './object-key.ts';
import type { ByteRange, ObjectStore } from './object-store.ts';
import { rangeOf } from './byte-range.ts';

/** The object that is asked for. `etag` without quotes: objects are never written twice, so their name is enough. */
type AskedObject = { readonly key: ObjectKey; readonly etag: string; readonly headers: Readonly<Record<string, string>> };
type Request = { readonly method: string; readonly headers: IncomingHttpHeaders };
type ObjectAnswer = { readonly status: number; readonly headers: Readonly<Record<string, string | number>>; readonly body?: Uint8Array | Readable };

/** How routes answer with an object. */
export type Objects = { answerWith(request: Request, object: AskedObject): Promise<ObjectAnswer> };

const SMALL = 1024 * 1024;
/** Whatever the bytes turn out to be, a browser runs nothing in them. */
const INERT = { 'content-security-policy': 'sandbox; default-src \'none\'', 'x-content-type-options': 'nosniff' };

export async function answerWith({ store }: { store: ObjectStore }, request: Request, object: AskedObject): Promise<ObjectAnswer> {
  const size = await store.size(object.key);
  if (size === undefined) throw notFound('Nothing is stored here');
  const etag = `"${object.etag}"`;
  const headers = { ...INERT, ...object.headers, etag, 'accept-ranges': 'bytes' };
  if (isHeld(request.headers['if-none-match'], etag)) return { status: 304, headers };
  const { range: asked, 'if-range': condition = etag } = request.headers;
  const range = condition === etag ? rangeOf(asked, size) : undefined;
  if (range === 'unsatisfiable') return { status: 416, headers: { ...headers, 'content-range': `bytes */${size}` } };
  const length = range ? range.end - range.start + 1 : size;
  const body = await bodyOf(store, request.method, { key: object.key, range, length });
  if (!range) return { status: 200, headers: { ...headers, 'content-length': length }, body };
  return { status: 206, headers: { ...headers, 'content-length': length, 'content-range': `bytes ${range.start}-${range.end}/${size}` }, body };
}

type Part = { readonly key: ObjectKey; readonly range: ByteRange | undefined; readonly length: number };

async function bodyOf(store: ObjectStore, method: string, { key, range, length }: Part): Promise<Uint8Array | Readable> {
  // A stream, because the framework would set the length of any other empty body to 0.
  if (method === 'HEAD') return Readable.from([]);
  if (length > SMALL) return store.stream(key, range);
  const bytes = await store.read(key, range);
  if (!bytes) throw notFound('Nothing is stored here');
  return bytes;
}
