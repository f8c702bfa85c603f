// Requests to a source end well after rate limits and server errors, and name what is wrong.
import type { Server } from 'node:http';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { serve } from '../program.fixture.ts';
import { createVendorClient, toPauseMs } from './vendor-client.ts';

type Reply = { readonly status: number; readonly body?: string; readonly headers?: Record<string, string> };
let server: Server;
let origin: string;
let replies: Reply[];
let asked: string[];
beforeAll(async () => {
  ({ server, url: origin } = await serve((request, response) => {
    asked.push(request.url ?? '');
    const { status, body = '', headers } = replies.shift() ?? { status: 500 };
    response.writeHead(status, headers).end(body);
  }));
});
afterAll(() => server.close());
beforeEach(() => {
  replies = [];
  asked = [];
});

const client = (signal = new AbortController().signal) =>
  createVendorClient({ name: 'cdnhost', credentialHint: 'Check the key.', signal });

test('429 and 5xx are repeated', async () => {
  replies = [{ status: 429 }, { status: 502 }, { status: 200, body: '{"a":1}' }];
  expect(await client().readJson({ url: `${origin}/list?key=secret` })).toEqual({ a: 1 });
  expect(asked).toHaveLength(3);
});

test('other failures name the path, without the query', async () => {
  replies = [{ status: 403, body: 'no\n access' }];
  await expect(client().readText({ url: `${origin}/list?key=secret` })).rejects.toMatchObject({
    message: 'cdnhost returned 403 for GET /list: no access',
    exitCode: 3,
    hint: 'Check the key.',
  });
  replies = [{ status: 404 }];
  const signed = client().readText({ url: `${origin}/bcdn_token=HS256-x&expires=1/v1/original` });
  await expect(signed).rejects.toThrow(/ for GET \/v1\/original: $/);
  replies = [{ status: 200, body: '<html>' }];
  await expect(client().readJson({ url: `${origin}/list` })).rejects.toThrow(
    'returned no JSON for GET /list',
  );
});

test('a file is missing, or known by its first bytes', async () => {
  replies = [{ status: 404 }, { status: 200, body: 'abcdef' }];
  expect(await client().findHead(`${origin}/file`, 3)).toBeUndefined();
  expect(Buffer.from((await client().findHead(`${origin}/file`, 3)) ?? []).toString()).toBe('abc');
});

test('an interruption ends a pause', async () => {
  replies = [{ status: 429, headers: { 'retry-after': '60' } }];
  const controller = new AbortController();
  const pending = client(controller.signal).readText({ url: `${origin}/list` });
  controller.abort();
  await expect(pending).rejects.toMatchObject({ name: 'AbortError' });
});

test('pauses grow, and are as long as the source demands, but a minute at most', () => {
  expect(toPauseMs(1, null)).toBeLessThanOrEqual(500);
  expect(toPauseMs(4, null)).toBeGreaterThanOrEqual(2000);
  expect(toPauseMs(1, '7')).toBe(7000);
  expect(toPauseMs(1, '3600')).toBe(60_000);
});
