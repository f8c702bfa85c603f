// Sends a stored object: ranges, ETag, HEAD; small ones from memory, large ones as a stream.
import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { notFound } from '../platform/errors.ts';
import type { ObjectKey } from '../storage/object-key.ts';
import type { ByteRange, ObjectStore } from '../storage/object-store.ts';
import { rangeOf } from './byte-range.ts';

/** Headers beside those that follow from the bytes. `etag` without quotes: objects are never written twice, so their name is enough. */
export type ObjectAnswer = { readonly key: ObjectKey; readonly etag: string; readonly headers: Readonly<Record<string, string>> };

const SMALL = 1024 * 1024;

export async function sendObject(store: ObjectStore, { request, reply }: { request: FastifyRequest; reply: FastifyReply }, answer: ObjectAnswer): Promise<unknown> {
  const size = await store.size(answer.key);
  if (size === undefined) throw notFound('Nothing is stored here');
  const etag = `"${answer.etag}"`;
  reply.headers({ ...answer.headers, etag, 'accept-ranges': 'bytes' });
  if (request.headers['if-none-match'] === etag) return reply.code(304).send();
  const range = request.headers['if-range'] === undefined || request.headers['if-range'] === etag ? rangeOf(request.headers.range, size) : undefined;
  if (range === 'unsatisfiable') return reply.code(416).header('content-range', `bytes */${size}`).send();
  if (range) reply.code(206).header('content-range', `bytes ${range.start}-${range.end}/${size}`);
  return sendBytes(store, { request, reply }, { key: answer.key, range, length: range ? range.end - range.start + 1 : size });
}

type Bytes = { readonly key: ObjectKey; readonly range: ByteRange | undefined; readonly length: number };

async function sendBytes(store: ObjectStore, { request, reply }: { request: FastifyRequest; reply: FastifyReply }, { key, range, length }: Bytes): Promise<unknown> {
  reply.header('content-length', length);
  // A stream, because the framework would set the length of any other empty body to 0.
  if (request.method === 'HEAD') return reply.send(Readable.from([]));
  if (length > SMALL) return reply.send(store.stream(key, range));
  const bytes = await store.read(key, range);
  if (!bytes) throw notFound('Nothing is stored here');
  return reply.send(bytes);
}
