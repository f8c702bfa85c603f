// Sends the bytes of a file as a client does that only knows the response of upload-url.
import { expect } from 'vitest';
import type { Started } from './media.ts';
import { offsetOf, patch, send, TUS } from './tus.ts';

type Target = { readonly protocol: string; readonly method: string; readonly url: string };

/** By `upload`: one PUT, or a resumable upload in two parts. */
export async function sendAsOffered({ upload }: Started, bytes: Uint8Array): Promise<void> {
  const { protocol, method, url } = upload as unknown as Target;
  if (protocol === 'tus') return sendInParts(url, bytes);
  expect(protocol).toBe('put');
  const response = await fetch(url, {
    method,
    headers: upload?.headers ?? {},
    body: bytes as unknown as string,
  });
  expect(response.status, await response.text()).toBe(200);
}

async function sendInParts(target: string, bytes: Uint8Array): Promise<void> {
  const { status, headers } = await send(`POST ${target}`, { ...TUS, 'upload-length': String(bytes.length) });
  expect(status).toBe(201);
  const url = new URL(headers.get('location') ?? '', target).href;
  expect((await patch(url, 0, bytes.subarray(0, Math.ceil(bytes.length / 2)))).status).toBe(204);
  const offset = await offsetOf(url);
  expect((await patch(url, offset, bytes.subarray(offset))).status).toBe(204);
}
