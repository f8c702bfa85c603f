// The steps of journeys with files in parts (tus concatenation).
import { expect } from 'vitest';
import type { Started } from '../media.ts';
import { BYTES, patch, send, TUS, tusUrl } from './tus.ts';

/** `BYTES` in parts of different sizes. */
export const PARTS = [
  BYTES.subarray(0, 1_000_000),
  BYTES.subarray(1_000_000, 1_700_000),
  BYTES.subarray(1_700_000),
];

export const idOf = (url: string): string => new URL(url).pathname.split('/').at(-1) as string;

export async function createPart(started: Started, bytes: Uint8Array, sent = bytes.length): Promise<string> {
  const headers = { ...TUS, 'upload-concat': 'partial', 'upload-length': String(bytes.length) };
  const created = await send(`POST ${tusUrl(started)}`, headers);
  expect(created.status).toBe(201);
  const url = new URL(created.headers.get('location') as string, tusUrl(started)).href;
  if (sent > 0) expect(await patch(url, 0, bytes.subarray(0, sent))).toMatchObject({ status: 204 });
  return url;
}

/** Parts arrive in any order. */
export async function createParts(started: Started, parts: readonly Uint8Array[] = PARTS): Promise<string[]> {
  const urls = await Promise.all(parts.toReversed().map((bytes) => createPart(started, bytes)));
  return urls.toReversed();
}

export const finalOf = (urls: readonly string[]) => ({ ...TUS, 'upload-concat': `final;${urls.join(' ')}` });
export const concat = (started: Started, urls: readonly string[], headers: Record<string, string> = {}) =>
  send(`POST ${tusUrl(started)}`, { ...finalOf(urls), ...headers });
