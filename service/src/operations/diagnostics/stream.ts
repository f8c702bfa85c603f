// Sends events at intervals, or a file with ranges, so that clients see what proxies do to responses.
import { Readable } from 'node:stream';
import { STREAM_FILE_BYTES } from '@mediary/contract/schemas/admin/diagnostics';
import type { ConcurrencyLimit } from '../../platform/concurrency/concurrency-limit.ts';
import { badRequest } from '../../platform/http/errors.ts';
import { matchesEtag } from '../../platform/http/headers.ts';
import { parseRange } from '../../storage/byte-range.ts';

type EventOptions = { readonly chunks: number; readonly interval_ms: number };

type StreamResponse = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | number>>;
  readonly body?: Readable | Uint8Array;
};

const MAX_MS = 60_000;

/** As the events of assets are sent: nginx does not buffer such a response. */
const EVENT_HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-store',
  'x-accel-buffering': 'no',
};

export async function openEvents(
  limit: ConcurrencyLimit,
  { method, options }: { readonly method: string; readonly options: EventOptions },
): Promise<StreamResponse> {
  const { chunks, interval_ms } = options;
  if (chunks * interval_ms > MAX_MS)
    throw badRequest(`chunks × interval_ms is at most ${MAX_MS}`, { field: 'interval_ms', limit: MAX_MS });
  if (method === 'HEAD') return { status: 200, headers: EVENT_HEADERS, body: Readable.from([]) };
  const body = Readable.from(timedEvents(options));
  const ended = new Promise((resolve) => body.once('close', resolve));
  await startCounting(limit, ended);
  return { status: 200, headers: EVENT_HEADERS, body };
}

/** Counts the stream until it ends; throws UNAVAILABLE `busy` when there are too many. */
async function startCounting(limit: ConcurrencyLimit, ended: Promise<unknown>): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const counted = limit('stream', async () => {
    resolve();
    await ended;
  });
  await Promise.race([promise, counted]);
}

async function* timedEvents({ chunks, interval_ms }: EventOptions): AsyncGenerator<string> {
  const start = performance.now();
  for (let index = 0; index < chunks; index += 1) {
    if (index > 0) await new Promise((resolve) => setTimeout(resolve, interval_ms));
    const sent = Math.round((performance.now() - start) * 10) / 10;
    yield `data: ${JSON.stringify({ index, sent_ms: sent })}\n\n`;
  }
}

const FILE = Uint8Array.from({ length: STREAM_FILE_BYTES }, (_, index) => index % 251);
const ETAG = `"diagnostics-${STREAM_FILE_BYTES}"`;
const FILE_HEADERS = {
  'content-type': 'application/octet-stream',
  'cache-control': 'private, no-store',
  'accept-ranges': 'bytes',
  etag: ETAG,
};

type FileRequest = {
  readonly method: string;
  readonly headers: { readonly range?: string | undefined; readonly 'if-none-match'?: string | undefined };
};

export function readFile({ method, headers }: FileRequest): StreamResponse {
  if (matchesEtag(headers['if-none-match'], ETAG)) return { status: 304, headers: FILE_HEADERS };
  const range = parseRange(headers.range, FILE.length);
  if (range === 'unsatisfiable')
    return { status: 416, headers: { ...FILE_HEADERS, 'content-range': `bytes */${FILE.length}` } };
  const { start, end } = range ?? { start: 0, end: FILE.length - 1 };
  const length = { 'content-length': end - start + 1 };
  // HEAD needs a stream, because Fastify sets Content-Length of any other empty body to 0.
  const body = method === 'HEAD' ? Readable.from([]) : FILE.subarray(start, end + 1);
  if (!range) return { status: 200, headers: { ...FILE_HEADERS, ...length }, body };
  const contentRange = { 'content-range': `bytes ${start}-${end}/${FILE.length}` };
  return { status: 206, headers: { ...FILE_HEADERS, ...length, ...contentRange }, body };
}
