// Tests the handler of a back end: whose uploads it opens, and what it passes on.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { answer, type ApiServer, refuse, startApiServer } from '../api-server.fixture.ts';
import { createMediary } from '../mediary.ts';
import { createUploadHandler, type UploadHandlerOptions } from './upload-handler.ts';

const ID = '019aab7c-4d2e-7c55-9f0e-6d1f2b3c4d5e';
const FILE = { filename: 'a.mp4', content_type: 'video', mime_type: 'video/mp4', size_bytes: 5 };

let server: ApiServer;
beforeAll(async () => {
  server = await startApiServer();
});
afterAll(() => server.close());

type Sent = {
  readonly path?: string;
  readonly method?: string;
  readonly body?: unknown;
  readonly type?: string;
};

async function send(
  { path = '', method = 'POST', body, type = 'application/json' }: Sent,
  options: Partial<UploadHandlerOptions> = {},
) {
  const mediary = createMediary({ baseUrl: server.url, serviceKey: 'key', maxRetries: 0 });
  const handle = createUploadHandler({ mediary, findOwner: () => 'ann', ...options });
  const response = await handle(
    new Request(`https://app.example.com/api/uploads${path}?album=7`, {
      method,
      headers: { 'content-type': type, 'idempotency-key': 'k-1' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    }),
  );
  const json = (await response.json()) as { readonly error: Record<string, unknown> };
  return { status: response.status, headers: response.headers, json };
}

const serveAsset = (owner_user_id: string): void =>
  server.handle((_request, response) => answer(response, { id: ID, owner_user_id }));

test('an upload belongs to the user of the session, and describes the file alone', async () => {
  server.handle((_request, response) => answer(response, { asset_id: ID, upload: null }));
  const { status, json } = await send({ body: { ...FILE, owner_user_id: 'bob', visibility: 'public' } });
  expect([status, json]).toEqual([200, { asset_id: ID, upload: null }]);
  const [request] = server.requests;
  expect(`${request?.method} ${request?.path}`).toBe('POST /api/v1/media/upload-url');
  expect(request?.headers).toMatchObject({ 'x-service-key': 'key', 'idempotency-key': 'k-1' });
  expect(JSON.parse(String(request?.body))).toEqual({ ...FILE, owner_user_id: 'ann' });
});

test('the back end decides what else an upload has', async () => {
  server.handle((_request, response) => answer(response, { asset_id: ID }));
  await send(
    { body: { ...FILE, tags: ['holiday'] } },
    { toUpload: ({ tags = [], ...asked }, owner) => ({ ...asked, tags: [...tags, `of ${owner}`] }) },
  );
  expect(JSON.parse(String(server.requests[0]?.body))).toMatchObject({
    ...FILE,
    tags: ['holiday', 'of ann'],
  });
});

test.each([
  ['GET', '', ['GET /api/v1/media/ID']],
  ['GET', '/playback', ['GET /api/v1/media/ID', 'GET /api/v1/media/ID/playback']],
  ['POST', '/complete', ['GET /api/v1/media/ID', 'POST /api/v1/media/ID/complete']],
])('%s /{id}%s reads the owner first', async (method, action, calls) => {
  serveAsset('ann');
  expect((await send({ method, path: `/${ID}${action}` })).status).toBe(200);
  expect(server.requests.map(({ method: sent, path }) => `${sent} ${path.replace(ID, 'ID')}`)).toEqual(calls);
});

test('a file replaces that of an asset of the user', async () => {
  serveAsset('ann');
  expect((await send({ path: `/${ID}/replace`, body: { ...FILE, visibility: 'public' } })).status).toBe(200);
  const [, request] = server.requests;
  expect(`${request?.method} ${request?.path}`).toBe(`POST /api/v1/media/${ID}/replace`);
  expect(JSON.parse(String(request?.body))).toEqual({ ...FILE, owner_user_id: 'ann' });
});

describe('a request is refused', () => {
  test.each<[string, Sent, Partial<UploadHandlerOptions>, number]>([
    ['of nobody', { body: FILE }, { findOwner: () => undefined }, 401],
    ['about an asset of another user', { method: 'GET', path: `/${ID}` }, {}, 404],
    ['that completes an asset of another user', { path: `/${ID}/complete` }, {}, 404],
    ['that replaces an asset of another user', { path: `/${ID}/replace`, body: FILE }, {}, 404],
    ['with another method', { method: 'POST', path: `/${ID}` }, {}, 404],
    ['without an asset', { method: 'GET' }, {}, 404],
    ['of a form of another site', { body: FILE, type: 'text/plain' }, {}, 400],
    ['without an object', { body: [FILE] }, {}, 400],
  ])('%s', async (_, ...[sent, options, status]) => {
    serveAsset('bob');
    const refused = await send(sent, options);
    expect([refused.status, refused.json]).toMatchObject([status, { success: false, code: status }]);
    expect(server.requests.filter(({ method }) => method !== 'GET')).toEqual([]);
  });
});

describe('what the service says', () => {
  test('reaches the page, with the time after which it may try again', async () => {
    const refusal = { status: 429, code: 'RATE_LIMITED', details: { limit: 3 } };
    server.handle((_request, response) => refuse(response, refusal, { 'retry-after': '7' }));
    const { status, headers, json } = await send({ body: FILE });
    expect([status, headers.get('retry-after')]).toEqual([429, '7']);
    expect(json.error).toEqual({ error_code: 'RATE_LIMITED', details: { limit: 3 } });
  });

  test('nothing: the page may try again', async () => {
    server.handle((_request, response) => response.destroy());
    const { status, json } = await send({ body: FILE });
    expect([status, json.error['error_code']]).toEqual([503, 'UNAVAILABLE']);
  });

  test('about the key of the back end stays there', async () => {
    server.handle((_request, response) => refuse(response, { status: 401, code: 'UNAUTHORIZED' }));
    await expect(send({ body: FILE })).rejects.toMatchObject({ status: 401 });
  });
});
