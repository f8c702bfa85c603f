// The steps of journeys with resumable uploads, as requests by hand.
import { randomBytes } from 'node:crypto';
import type { Socket } from 'node:net';
import { expect } from 'vitest';
import type { Started } from '../media.ts';
import { openSocket } from '../http/raw-socket.ts';

export const BYTES = randomBytes(3_000_000);
export const TUS = { 'tus-resumable': '1.0.0' };
export const CHUNK = { ...TUS, 'content-type': 'application/offset+octet-stream' };

export const targetsOf = ({ upload, alternatives }: Started) => [
  ...(upload ? [upload] : []),
  ...alternatives,
];
export const tusUrl = (started: Started) =>
  targetsOf(started).find(({ protocol }) => protocol === 'tus')?.url as string;

type Reply = { readonly status: number; readonly headers: Headers; readonly reason: unknown };

/** A stream is sent in chunks, without its length. */
export async function send(
  request: string,
  headers: Record<string, string> = TUS,
  body?: Uint8Array | ReadableStream,
) {
  const [method, url] = request.split(' ') as [string, string];
  const sent = body && { body, duplex: 'half' as const };
  const response = await fetch(url, { method, headers, ...sent });
  const text = await response.text();
  const reason = text && JSON.parse(text).error?.details?.reason;
  return { status: response.status, headers: response.headers, reason } satisfies Reply;
}

/** The URL of a new upload. */
export async function create(started: Started, length: number | 'later' = BYTES.length): Promise<string> {
  const { status, headers } = await send(`POST ${tusUrl(started)}`, {
    ...TUS,
    ...(length === 'later' ? { 'upload-defer-length': '1' } : { 'upload-length': String(length) }),
  });
  expect(status).toBe(201);
  return new URL(headers.get('location') as string, tusUrl(started)).href;
}

export const patch = (url: string, offset: number, bytes: Uint8Array) =>
  send(`PATCH ${url}`, { ...CHUNK, 'upload-offset': String(offset) }, bytes);
/** A PATCH without the length of its body. */
export const patchChunked = (url: string, offset: number, bytes: Uint8Array) =>
  send(
    `PATCH ${url}`,
    { ...CHUNK, 'upload-offset': String(offset) },
    new Blob([Buffer.from(bytes)]).stream(),
  );
/** Begins a PATCH that announces `length` bytes; the caller sends as many of them as it wants. */
export async function beginPatch(
  url: string,
  { offset, length }: { readonly offset: number; readonly length: number },
): Promise<Socket> {
  const { pathname, search, origin } = new URL(url);
  const socket = await openSocket(origin);
  socket.write(
    [
      `PATCH ${pathname}${search} HTTP/1.1`,
      'Host: mediary.test',
      'Tus-Resumable: 1.0.0',
      'Content-Type: application/offset+octet-stream',
      `Upload-Offset: ${offset}`,
      `Content-Length: ${length}`,
      '\r\n',
    ].join('\r\n'),
  );
  return socket;
}
export const offsetOf = async (url: string) =>
  Number((await send(`HEAD ${url}`)).headers.get('upload-offset'));
