// Reads objects: their size, small ones at once, and streams that continue after a broken connection.
import { Readable } from 'node:stream';
import { GetObjectCommand, type GetObjectCommandOutput, HeadObjectCommand } from '@aws-sdk/client-s3';
import { notFound, unavailable } from '../../platform/http/errors.ts';
import type { ObjectKey } from '../object-key.ts';
import type { ByteRange, OpenObject, ReadObject } from '../object-store.ts';
import type { S3Connection } from './connection.ts';
import { throwStoreError } from './errors.ts';

const READ_BYTES = 1024 ** 2;
const STREAM_BYTES = 512 * 1024;
/** A stream fails after so many broken connections without a byte between them. */
const MAX_FAILURES = 3;

export async function sizeOf(s3: S3Connection, key: ObjectKey): Promise<number | undefined> {
  const found = await s3.find((options) => s3.client.send(new HeadObjectCommand(s3.at(key)), options));
  return found && (found.ContentLength ?? 0);
}

export async function readSmall(
  s3: S3Connection,
  key: ObjectKey,
  into?: Uint8Array,
): Promise<ReadObject | undefined> {
  const found = await findObject(s3, key);
  if (!found) return undefined;
  const sizeBytes = found.ContentLength ?? 0;
  if (sizeBytes > READ_BYTES) {
    bodyOf(found).destroy();
    return { sizeBytes };
  }
  const bytes = (into ?? Buffer.allocUnsafe(sizeBytes)).subarray(0, sizeBytes);
  let position = 0;
  const { signal } = new AbortController();
  for await (const chunk of chunksOf(s3, { key, range: undefined, signal }, found)) {
    bytes.set(chunk, position);
    position += chunk.byteLength;
  }
  return { sizeBytes, bytes };
}

export async function openObject(s3: S3Connection, key: ObjectKey): Promise<OpenObject | undefined> {
  const first = await findObject(s3, key);
  if (!first) return undefined;
  const body = streamOf((signal) => chunksOf(s3, { key, range: undefined, signal }, first));
  // A stream that is closed before it is read has not started to read the response.
  return { sizeBytes: first.ContentLength ?? 0, body: body.once('close', () => bodyOf(first).destroy()) };
}

export const streamObject = (s3: S3Connection, key: ObjectKey, range?: ByteRange): Readable =>
  streamOf((signal) => chunksOf(s3, { key, range, signal }));

function streamOf(chunks: (signal: AbortSignal) => AsyncGenerator<Uint8Array>): Readable {
  const closing = new AbortController();
  const stream = Readable.from(chunks(closing.signal), { objectMode: false, highWaterMark: STREAM_BYTES });
  return stream.once('close', () => closing.abort());
}

const findObject = (s3: S3Connection, key: ObjectKey): Promise<GetObjectCommandOutput | undefined> =>
  s3.find((options) => s3.reader.send(new GetObjectCommand(s3.at(key)), options));

type StreamRequest = {
  readonly key: ObjectKey;
  readonly range: ByteRange | undefined;
  readonly signal: AbortSignal;
};

/** A broken connection is replaced by a request for the rest of the same object. */
async function* chunksOf(
  s3: S3Connection,
  request: StreamRequest,
  first?: GetObjectCommandOutput,
): AsyncGenerator<Uint8Array> {
  let found = first ?? (await open(s3, request));
  const start = request.range?.start ?? 0;
  const rest = { position: start, end: start + (found.ContentLength ?? 0) - 1, etag: found.ETag };
  for (let failures = 0; ; failures += 1) {
    try {
      for await (const chunk of bodyOf(found) as AsyncIterable<Uint8Array>) {
        rest.position += chunk.byteLength;
        failures = 0;
        yield chunk;
      }
    } catch (error) {
      if (request.signal.aborted || failures === MAX_FAILURES) throwStoreError(error);
    }
    if (rest.position > rest.end) return;
    if (failures === MAX_FAILURES) throw unavailable('The object store sent less than the whole object');
    found = await open(s3, request, rest);
  }
}

type Rest = { readonly position: number; readonly end: number; readonly etag: string | undefined };

/** Only the wait for the response has a deadline, because a client may read a long body slowly. */
async function open(
  s3: S3Connection,
  { key, range, signal }: StreamRequest,
  rest?: Rest,
): Promise<GetObjectCommandOutput> {
  const [first, last] = rest ? [rest.position, rest.end] : [range?.start, range?.end];
  const command = new GetObjectCommand({
    ...s3.at(key),
    ...(first !== undefined && { Range: `bytes=${first}-${last}` }),
    ...(rest?.etag !== undefined && { IfMatch: rest.etag }),
  });
  const found = await s3.find(() => s3.reader.send(command, { abortSignal: signal }));
  if (!found) throw notFound('This file is not stored');
  if (first !== undefined && !found.ContentRange?.startsWith(`bytes ${first}-${last}/`))
    throw unavailable('The object store sent another range than the requested one');
  return found;
}

function bodyOf({ Body }: GetObjectCommandOutput): Readable {
  if (Body instanceof Readable) return Body;
  throw new TypeError('the response of the object store has no body');
}
