// Sends the bytes of a file as a client does that only knows the response of upload-url.
import { expect } from 'vitest';
import type { Started } from '../media.ts';
import { multipartClient, sendParts } from './multipart.ts';
import { offsetOf, patch, send, TUS } from './tus.ts';

/** By `upload`: one PUT, a resumable upload in two requests, or parts that go straight to the store. */
export async function sendAsOffered(started: Started, bytes: Uint8Array): Promise<void> {
  const { upload } = started;
  if (!upload) throw new Error('no upload target');
  const { protocol, method, url, headers } = upload;
  if (protocol === 'tus') return sendByTus(url, bytes);
  if (protocol === 's3-multipart') return sendMultipart(started, bytes);
  expect(protocol).toBe('put');
  const response = await fetch(url, {
    method,
    headers,
    body: bytes,
  });
  expect(response.status, await response.text()).toBe(200);
}

async function sendMultipart(started: Started, bytes: Uint8Array): Promise<void> {
  const client = multipartClient(started);
  const created = (await client.create({ size_bytes: bytes.length })).body.data;
  await sendParts(client, created, bytes);
  expect((await client.complete(created.uploadId)).status).toBe(200);
}

async function sendByTus(target: string, bytes: Uint8Array): Promise<void> {
  const { status, headers } = await send(`POST ${target}`, { ...TUS, 'upload-length': String(bytes.length) });
  expect(status).toBe(201);
  const url = new URL(headers.get('location') ?? '', target).href;
  expect((await patch(url, 0, bytes.subarray(0, Math.ceil(bytes.length / 2)))).status).toBe(204);
  const offset = await offsetOf(url);
  expect((await patch(url, offset, bytes.subarray(offset))).status).toBe(204);
}
