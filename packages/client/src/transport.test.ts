// Requests of the SDK: credentials, retries, time limits and errors.
import type { ServerResponse } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { answer, type ApiServer, refuse, startApiServer } from './api-server.fixture.ts';
import { isMediaryError } from './errors.ts';
import { createMediary, type Mediary } from './mediary.ts';
import type { MediaryOptions } from './transport.ts';

let server: ApiServer;
beforeAll(async () => {
  server = await startApiServer();
});
afterAll(() => server.close());

const connect = (options: Partial<MediaryOptions> = {}) => createMediary({ baseUrl: server.url, ...options });
const failureOf = (pending: Promise<unknown>): Promise<unknown> =>
  pending.then(
    () => Promise.reject(new Error('the call succeeded')),
    (error: unknown) => error,
  );

describe('retries', () => {
  test('repeat a POST with the same Idempotency-Key, after Retry-After', async () => {
    const times: number[] = [];
    server.handle((_request, response) => {
      times.push(Date.now());
      if (times.length === 1) response.destroy();
      else if (times.length === 2)
        refuse(response, { status: 503, code: 'UNAVAILABLE' }, { 'retry-after': '1' });
      else answer(response, { id: 'a' });
    });
    await connect().media.complete('1', { ownerUserId: 'ann' });
    const keys = server.requests.map(({ headers }) => headers['idempotency-key']);
    expect(keys[0]).toMatch(/^[0-9a-f]{32}$/);
    expect(new Set(keys).size).toBe(1);
    expect(server.requests.map(({ body }) => body.toString())).toEqual(
      Array(3).fill('{"owner_user_id":"ann"}'),
    );
    expect((times[2] ?? 0) - (times[1] ?? 0)).toBeGreaterThan(950);
  });
  test.each([500, 502, 507, 522, 599])('repeat a request after the status %i', async (status) => {
    server.handle((_request, response) => {
      if (server.requests.length === 1) response.writeHead(status).end();
      else answer(response, { id: 'a' });
    });
    expect(await connect().media.get('1')).toEqual({ id: 'a' });
  });
  test('end after maxRetries', async () => {
    server.handle((_request, response) => refuse(response, { status: 500, code: 'INTERNAL_ERROR' }));
    const error = await failureOf(connect({ maxRetries: 1 }).media.get('1'));
    expect(error).toMatchObject({
      name: 'MediaryError',
      errorCode: 'INTERNAL_ERROR',
      status: 500,
      requestId: 'r-2',
    });
    expect(server.requests).toHaveLength(2);
  });
  test('do not repeat what a provider does not implement', async () => {
    server.handle((_request, response) => refuse(response, { status: 501, code: 'NOT_IMPLEMENTED' }));
    expect(await failureOf(connect().media.get('1'))).toMatchObject({ status: 501 });
    expect(server.requests).toHaveLength(1);
  });
  test('do not repeat what the service refuses', async () => {
    const details = { reason: 'not_uploaded', field: 'x' };
    server.handle((_request, response) => refuse(response, { status: 400, code: 'BAD_REQUEST', details }));
    const error = await failureOf(connect().media.complete('1'));
    expect(error).toMatchObject({
      errorCode: 'BAD_REQUEST',
      reason: 'not_uploaded',
      details,
      message: 'No: BAD_REQUEST.',
    });
    expect(isMediaryError(error, 'BAD_REQUEST') && isMediaryError(error, 'not_uploaded')).toBe(true);
    expect(isMediaryError(error, 'NOT_FOUND') || isMediaryError(new Error('other'))).toBe(false);
    expect(server.requests).toHaveLength(1);
  });
});

describe('a call that must not take effect twice', () => {
  const calls: Record<string, (mediary: Mediary) => Promise<unknown>> = {
    'creating a webhook endpoint': ({ webhookEndpoints }) =>
      webhookEndpoints.create({ url: 'https://app.example.com/' }),
    'replacing a secret': ({ webhookEndpoints }) => webhookEndpoints.rotateSecret('1'),
    'a change with If-Match': ({ media }) => media.update('1', { title: 'x' }, { ifMatch: 3 }),
    'a deletion with If-Match': ({ media }) => media.delete('1', { ifMatch: 3 }),
  };
  test.each(Object.entries(calls))('is not repeated where it may have taken effect: %s', async (_, call) => {
    server.handle((_request, response) => response.destroy());
    expect(await failureOf(call(connect()))).toMatchObject({ name: 'ConnectionError' });
    expect(server.requests).toHaveLength(1);
    for (const status of [500, 502, 503, 504]) {
      server.handle((_request, response) => refuse(response, { status, code: 'UNAVAILABLE' }));
      expect(await failureOf(call(connect()))).toMatchObject({ status });
      expect(server.requests).toHaveLength(1);
    }
  });
  test('is repeated after a refusal that passes', async () => {
    const refusals = [
      { status: 429, code: 'RATE_LIMITED' },
      { status: 409, code: 'CONFLICT', details: { reason: 'asset_changed' } },
      { status: 401, code: 'UNAUTHORIZED', details: { reason: 'expired' } },
    ];
    server.handle((_request, response) => {
      const refusal = refusals.shift();
      if (refusal) refuse(response, refusal);
      else answer(response, { id: 'a' });
    });
    const { media } = connect({ token: () => 'abc' });
    expect(await media.update('1', { title: 'x' }, { ifMatch: 3 })).toEqual({ id: 'a' });
    expect(server.requests.map(({ headers }) => headers['if-match'])).toEqual(Array(4).fill('"3"'));
  });
});

describe('a deletion', () => {
  const deleteAll = ({ media, captions, webhookEndpoints }: Mediary): Promise<unknown> =>
    Promise.all([media.delete('a'), captions.delete('a', 'en'), webhookEndpoints.delete('e')]);
  const lose: Record<string, (response: ServerResponse) => void> = {
    'no response': (response) => response.destroy(),
    'a 5xx': (response) => refuse(response, { status: 503, code: 'UNAVAILABLE' }),
  };
  test.each(Object.entries(lose))('succeeds if it finds nothing after %s', async (_, loseFirst) => {
    const seen = new Set<string>();
    server.handle(({ path }, response) => {
      if (seen.has(path)) return refuse(response, { status: 404, code: 'NOT_FOUND' });
      seen.add(path);
      loseFirst(response);
    });
    expect(await deleteAll(connect())).toEqual([
      { id: 'a', deleted: true },
      { language: 'en', deleted: true },
      { id: 'e', deleted: true },
    ]);
    expect(server.requests).toHaveLength(6);
  });
  test('rejects if there was nothing to delete', async () => {
    server.handle((_request, response) =>
      server.requests.length === 1
        ? refuse(response, { status: 429, code: 'RATE_LIMITED' })
        : refuse(response, { status: 404, code: 'NOT_FOUND' }),
    );
    expect(await failureOf(connect().media.delete('a'))).toMatchObject({ errorCode: 'NOT_FOUND' });
    expect(server.requests).toHaveLength(2);
  });
});

const READY = { id: '1', stream_status: 'ready', deleted_at: null };

describe('time limits and signals', () => {
  test('a response that does not come is a TimeoutError', async () => {
    server.handle((_request, response) => response.flushHeaders());
    const error = await failureOf(connect({ timeoutMs: 50, maxRetries: 0 }).media.get('1'));
    expect(error).toMatchObject({ name: 'TimeoutError', errorCode: 'TIMEOUT' });
  });
  test.each([2 ** 31, Number.POSITIVE_INFINITY])('of %d ms leave time for an answer', async (limitMs) => {
    server.handle(({ path }, response) =>
      path.endsWith('/events') ? response.writeHead(404).end() : answer(response, READY),
    );
    const { media } = connect({ timeoutMs: limitMs, maxRetries: 0 });
    expect(await media.get('1')).toEqual(READY);
    expect(await media.waitUntilReady('1', { deadlineMs: limitMs })).toEqual(READY);
  });
  test('cover a token source that does not answer', async () => {
    server.handle((_request, response) => answer(response, {}));
    const token = () => new Promise<string>(() => {});
    const late = connect({ token, timeoutMs: 50, maxRetries: 0 }).media.get('unsent');
    expect(await failureOf(late)).toMatchObject({ name: 'TimeoutError' });
    const controller = new AbortController();
    const { signal } = controller;
    const { media, events } = connect({ token });
    const calls = [media.get('unsent', { signal }), events.stream({ signal }).next()];
    const failures = Promise.all(calls.map(failureOf));
    controller.abort('enough');
    expect(await failures).toEqual(['enough', 'enough']);
    // The request of an earlier test, which gave up, may arrive late.
    expect(server.requests.filter(({ path }) => /unsent|events/.test(path))).toEqual([]);
  });
  test('an abort rejects with its reason, also between retries', async () => {
    const controller = new AbortController();
    server.handle((_request, response) => {
      refuse(response, { status: 429, code: 'RATE_LIMITED' }, { 'retry-after': '50' });
      setTimeout(() => controller.abort('enough'), 20);
    });
    expect(await failureOf(connect().media.get('1', { signal: controller.signal }))).toBe('enough');
    expect(await failureOf(connect().media.get('1', { signal: controller.signal }))).toBe('enough');
    expect(server.requests).toHaveLength(1);
  });
});

describe('responses', () => {
  test.each([
    [502, 'UNAVAILABLE'],
    [504, 'UNAVAILABLE'],
    [507, 'INTERNAL_ERROR'],
    [520, 'UNAVAILABLE'],
    [530, 'UNAVAILABLE'],
  ])('of a proxy in HTML are errors by their status: %i is %s', async (status, errorCode) => {
    server.handle((_request, response) => response.writeHead(status).end('<h1>Bad gateway</h1>'));
    const error = await failureOf(connect({ maxRetries: 0 }).media.get('1'));
    expect(error).toMatchObject({ errorCode, status });
  });
  test('of another program are errors too', async () => {
    server.handle((_request, response) => response.end('<h1>Welcome</h1>'));
    expect(await failureOf(connect().media.get('1'))).toMatchObject({ errorCode: 'INVALID_RESPONSE' });
  });
});

test('a list reads page after page, with filters and owner', async () => {
  server.handle(({ path }, response) =>
    path.includes('cursor=c2')
      ? answer(response, { items: [{ id: '3' }], next_cursor: null })
      : answer(response, { items: [{ id: '1' }, { id: '2' }], next_cursor: 'c2' }),
  );
  const list = connect().media.list({ kind: 'video', limit: 2 }, { ownerUserId: 'a&b' });
  const ids: string[] = [];
  for await (const { id } of list) ids.push(id);
  expect(ids).toEqual(['1', '2', '3']);
  expect(server.requests[1]?.path).toBe('/api/v1/media?kind=video&limit=2&owner_user_id=a%26b&cursor=c2');
  expect(await list.page('c2')).toMatchObject({ items: [{ id: '3' }] });
});

test('an id cannot change the path', async () => {
  server.handle((_request, response) => answer(response, {}));
  await connect().media.get('../admin?x');
  expect(server.requests[0]?.path).toBe('/api/v1/media/..%2Fadmin%3Fx');
});
