// What web pages of an origin may send and read, by the headers of responses.
import { expect, test } from 'vitest';
import { findCrossOriginTrouble } from './cors.ts';
import type { Send } from './probe.ts';

const ORIGIN = 'https://app.test';
const UPLOAD = {
  path: '/upload',
  method: 'PATCH',
  headers: ['content-type', 'tus-resumable'],
  exposed: ['location', 'upload-offset'],
} as const;
const ALLOWED = {
  'access-control-allow-origin': ORIGIN,
  'access-control-allow-methods': 'GET, HEAD, POST, PUT, PATCH, DELETE',
  'access-control-allow-headers': '*',
  'access-control-expose-headers': '*',
};

/** A service that allows everything, with other headers put over. */
const respond =
  (changes: Readonly<Record<string, string | undefined>> = {}, status = 204): Send =>
  async () => ({
    status,
    headers: { ...ALLOWED, ...changes },
    body: Buffer.alloc(0),
    chunks: [],
    headAfterMs: 1,
    certificate: undefined,
  });
const find = (send: Send) => findCrossOriginTrouble(send, ORIGIN, UPLOAD);

test('nothing is wrong where origin, method and headers are allowed', async () => {
  expect(await find(respond())).toBeUndefined();
  expect(await find(respond({ 'access-control-allow-origin': '*' }))).toBeUndefined();
  const listed = {
    'access-control-allow-headers': 'Content-Type,Tus-Resumable',
    'access-control-expose-headers': 'Location, Upload-Offset',
  };
  expect(await find(respond(listed))).toBeUndefined();
});

test.each<[string, Send, { readonly text: RegExp; readonly fix: RegExp }]>([
  ['preflights that the proxy answers', respond({}, 405), { text: /answered 405/, fix: /pass OPTIONS on/ }],
  [
    'a second header of the proxy',
    respond({ 'access-control-allow-origin': `${ORIGIN}, *` }),
    { text: /there twice/, fix: /neither add nor remove/ },
  ],
  [
    'a missing origin',
    respond({ 'access-control-allow-origin': undefined }),
    { text: /is missing/, fix: /Add https:\/\/app\.test to CORS_ORIGINS/ },
  ],
  [
    'another origin',
    respond({ 'access-control-allow-origin': 'https://other.test' }),
    { text: /is https:\/\/other\.test/, fix: /Add https:\/\/app\.test to CORS_ORIGINS/ },
  ],
  [
    'a missing method',
    respond({ 'access-control-allow-methods': 'GET' }),
    { text: /PATCH is not/, fix: /OPTIONS/ },
  ],
  [
    'missing request headers',
    respond({ 'access-control-allow-headers': 'content-type' }),
    { text: /headers tus-resumable are not allowed/, fix: /OPTIONS/ },
  ],
  [
    'hidden response headers',
    respond({ 'access-control-expose-headers': 'Location' }),
    { text: /headers upload-offset are not exposed/, fix: /OPTIONS/ },
  ],
  [
    'a connection that breaks',
    async () => ({ failure: 'error', phase: 'response', code: 'ECONNRESET' }),
    { text: /ECONNRESET/, fix: /proxy/ },
  ],
])('finds %s', async (_, send, { text, fix }) => {
  expect(await find(send)).toEqual({
    text: expect.stringMatching(text),
    fix: expect.stringMatching(fix),
  });
});
