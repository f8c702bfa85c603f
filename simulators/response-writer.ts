// Writes responses: text, or a file with range requests; in four slow parts for a fault.
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { extname } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout as wait } from 'node:timers/promises';
import type { RouteResponse } from './route.ts';

type ResponseOptions = {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly answer: RouteResponse;
  readonly pauseMs: number;
};
type Content = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly length: number;
  readonly bytes: () => Readable;
};

const TYPES: Readonly<Record<string, string>> = {
  '.m3u8': 'application/vnd.apple.mpegurl',
  '.mpd': 'application/dash+xml',
  '.m4s': 'video/iso.segment',
  '.mp4': 'video/mp4',
  '.ts': 'video/mp2t',
  '.jpg': 'image/jpeg',
};

export async function writeResponse({ request, response, answer, pauseMs }: ResponseOptions): Promise<void> {
  const { status, headers, length, bytes } = await toContent(answer, request.headers.range);
  response.writeHead(status, { ...headers, ...(status === 204 ? {} : { 'Content-Length': length }) });
  if (request.method === 'HEAD' || length === 0) return void response.end();
  try {
    await pipeline(pauseMs > 0 ? slowly(bytes(), { length, pauseMs }) : bytes(), response);
  } catch {
    response.destroy(); // The client disconnected or the file was deleted: the body is incomplete.
  }
}

async function toContent(
  { status, headers = {}, body = '' }: RouteResponse,
  range?: string,
): Promise<Content> {
  if (typeof body === 'string')
    return {
      status,
      headers,
      length: Buffer.byteLength(body),
      bytes: () => Readable.from([Buffer.from(body)]),
    };
  const { size } = await stat(body.file).catch(() => ({ size: -1 }));
  if (size < 0) return { status: 404, headers, length: 0, bytes: () => Readable.from([]) };
  const typed = {
    'Content-Type': TYPES[extname(body.file)] ?? 'application/octet-stream',
    'Accept-Ranges': 'bytes',
    ...headers,
  };
  const wanted = rangeOf(range, size);
  if (wanted === 'outside')
    return {
      status: 416,
      headers: { ...headers, 'Content-Range': `bytes */${size}` },
      length: 0,
      bytes: () => Readable.from([]),
    };
  const { start, end } = wanted ?? { start: 0, end: size - 1 };
  const shown = wanted ? { ...typed, 'Content-Range': `bytes ${start}-${end}/${size}` } : typed;
  return {
    status: wanted ? 206 : status,
    headers: shown,
    length: end - start + 1,
    bytes: () => createReadStream(body.file, { start, end }),
  };
}

function rangeOf(
  range: string | undefined,
  size: number,
): { start: number; end: number } | 'outside' | undefined {
  const [, first, last] = /^bytes=(\d*)-(\d*)$/.exec(range ?? '') ?? [];
  if (!first && !last) return undefined;
  const start = first ? Number(first) : Math.max(0, size - Number(last));
  const end = first && last ? Math.min(Number(last), size - 1) : size - 1;
  return start > end ? 'outside' : { start, end };
}

async function* slowly(
  bytes: Readable,
  { length, pauseMs }: { length: number; pauseMs: number },
): AsyncGenerator<Buffer> {
  const whole = Buffer.concat(await bytes.toArray());
  const piece = Math.ceil(length / 4);
  for (let at = 0; at < length; at += piece) {
    yield whole.subarray(at, at + piece);
    await wait(pauseMs, undefined, { ref: false });
  }
}
