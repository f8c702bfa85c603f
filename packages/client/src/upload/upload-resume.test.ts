// Uploads that an earlier call began, against a server that loses responses and refuses requests.
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { answer, type ApiServer, refuse, startApiServer } from '../api-server.fixture.ts';
import { createMediary } from '../mediary.ts';
import type { ResumeStore } from './resume-store.ts';
import type { UploadOptions } from './upload-options.ts';

let server: ApiServer;
beforeAll(async () => {
  server = await startApiServer();
});
afterAll(() => server.close());
beforeEach(() => entries.clear());

const file = new File([Buffer.alloc(3001, 5)], 'film.mp4', { lastModified: 1 });
const entries = new Map<string, string>();
const store: ResumeStore = {
  getItem: (key) => entries.get(key) ?? null,
  setItem: async (key, value) => void entries.set(key, value),
  removeItem: (key) => void entries.delete(key),
};
const upload = (options: UploadOptions = {}) =>
  createMediary({ baseUrl: server.url, token: 'secret', maxRetries: 0 }).media.upload(file, {
    resume: { store },
    ...options,
  });
const paths = () => server.requests.map(({ method, path }) => `${method} ${path}`);

const opened = (id: string) => ({
  asset_id: id,
  asset: {},
  upload: { protocol: 'put', method: 'PUT', url: `${server.url}/up`, headers: {}, max_bytes: 10_000 },
  alternatives: [],
});
const DONE = { id: 'a', stream_status: 'processing', uploaded_at: 'now', deleted_at: null };

describe('an upload whose last response was lost', () => {
  /** Uploads with `complete` unanswered, then again while the asset is `asset`. */
  async function uploadTwice(asset: object) {
    let isLost = true;
    server.handle(({ method, path }, response) => {
      if (path.endsWith('/upload-url')) answer(response, opened(isLost ? 'a' : 'b'));
      else if (method === 'PUT') response.end();
      else if (method === 'GET') answer(response, asset);
      else if (isLost) response.destroy();
      else answer(response, { ...DONE, id: 'b' });
    });
    await expect(upload()).rejects.toMatchObject({ name: 'UploadError', errorCode: 'CONNECTION_FAILED' });
    isLost = false;
    server.requests.length = 0;
    return upload();
  }

  test.each(['processing', 'ready'])('is the asset that is %s', async (status) => {
    const asset = { ...DONE, stream_status: status };
    expect(await uploadTwice(asset)).toEqual(asset);
    expect(paths()).toEqual(['GET /api/v1/media/a']);
    expect(entries.size).toBe(0);
  });
  test.each([
    ['failed', { ...DONE, stream_status: 'failed' }],
    ['in the trash', { ...DONE, deleted_at: 'now' }],
  ])('starts anew where the asset is %s', async (_name, asset) => {
    expect(await uploadTwice(asset)).toMatchObject({ id: 'b' });
    expect(paths()).toContain('PUT /up');
    expect(entries.size).toBe(0);
  });
});

const PENDING = { ...DONE, stream_status: 'pending_upload', uploaded_at: null };

describe('an upload that was interrupted', () => {
  /** Answers as after an interruption, with `status` for one kind of requests. */
  function refuseRequests(method: string, status: number): void {
    server.handle((request, response) => {
      if (request.method === method) refuse(response, { status, code: 'REFUSED' });
      else if (request.path.endsWith('/upload-url')) answer(response, opened('b'));
      else if (request.method === 'PUT') response.end();
      else answer(response, request.method === 'GET' ? PENDING : DONE);
    });
  }
  beforeEach(async () => {
    server.handle(({ path }, response) => {
      if (path.endsWith('/upload-url')) answer(response, opened('a'));
      else response.destroy();
    });
    await expect(upload()).rejects.toThrow();
    expect(entries.size).toBe(1);
  });

  test.each(['GET', 'POST'])(
    'continues after a login where the token had expired for a %s',
    async (method) => {
      refuseRequests(method, 401);
      await expect(upload()).rejects.toMatchObject({ status: 401 });
      expect(paths()).not.toContain('POST /api/v1/media/upload-url');
      refuseRequests('none', 0);
      expect(await upload()).toEqual(DONE);
      expect(paths()).toEqual(['GET /api/v1/media/a', 'PUT /up', 'POST /api/v1/media/a/complete']);
    },
  );
  test.each([403, 404, 410])('starts anew where the asset is answered with %i', async (status) => {
    refuseRequests('GET', status);
    await upload();
    expect(paths().slice(1)).toEqual([
      'POST /api/v1/media/upload-url',
      'PUT /up',
      'POST /api/v1/media/b/complete',
    ]);
  });
  test('starts anew where the ticket of the target has expired', async () => {
    refuseRequests('PUT', 401);
    await expect(upload()).rejects.toMatchObject({ status: 401, assetId: 'b' });
  });
});

describe('an asset that exists', () => {
  const options = { externalId: 'x', ifExists: 'return', resume: false } as const;
  /** Answers `upload-url` with the asset and no target, and `retry` with `reopened`. */
  const serveExisting = (asset: object, reopened: object = opened('a')): void =>
    server.handle(({ method, path }, response) => {
      if (method === 'PUT') response.end();
      else if (path.includes('/upload-url')) answer(response, { ...opened('a'), upload: null, asset });
      else answer(response, path.includes('/retry') ? reopened : DONE);
    });
  const expired = { ...PENDING, id: 'a', stream_status: 'failed', failure: { retryable: true } };
  const COMPLETE = 'POST /api/v1/media/a/complete';
  const RETRY = 'POST /api/v1/media/a/retry?expand=asset';

  test.each<[string, object, string[]]>([
    ['with its bytes is completed', { ...PENDING, id: 'a', uploaded_at: 'now' }, [COMPLETE]],
    ['that failed without bytes gets the file', expired, [RETRY, 'PUT /up', COMPLETE]],
    ['that failed for good is returned', { ...expired, failure: { retryable: false } }, []],
    ['that failed to be encoded is returned', { ...expired, uploaded_at: 'now' }, []],
    ['whose bytes the service gets is returned', { ...PENDING, id: 'a' }, []],
  ])('%s', async (_case, asset, requests) => {
    serveExisting(asset);
    const uploaded = await upload(options);
    expect(paths().slice(1)).toEqual(requests);
    expect(uploaded).toEqual(requests.includes(COMPLETE) ? DONE : asset);
  });
  test('whose bytes the service gets again is returned as it is then', async () => {
    serveExisting(expired, { ...opened('a'), upload: null, asset: PENDING });
    expect(await upload(options)).toEqual(PENDING);
    expect(paths().slice(1)).toEqual([RETRY]);
  });
  test('is returned where the caller may not open another attempt', async () => {
    server.handle(({ path }, response) => {
      if (path.includes('/retry')) refuse(response, { status: 403, code: 'FORBIDDEN' });
      else answer(response, { ...opened('a'), upload: null, asset: expired });
    });
    expect(await upload(options)).toEqual(expired);
  });
});

test.each(['tus', 's3-multipart'])('bytes that are stored already are not sent by %s', async (protocol) => {
  const target = { protocol, method: 'POST', url: `${server.url}/up`, headers: {}, max_bytes: 10_000 };
  server.handle(({ path }, response) => {
    if (path.endsWith('/upload-url')) answer(response, { ...opened('a'), upload: target });
    else if (!path.startsWith('/up')) answer(response, DONE);
    else refuse(response, { status: 409, code: 'CONFLICT', details: { reason: 'already_uploaded' } });
  });
  expect(await upload({ idempotencyKey: 'k', resume: false })).toEqual(DONE);
  expect(paths().filter((path) => path.endsWith('/complete'))).toHaveLength(1);
});

describe('an upload that cannot be remembered', () => {
  /** `isCut`: the connection breaks at the completion. */
  const serve = (isCut: boolean): void =>
    server.handle(({ method, path }, response) => {
      if (path.endsWith('/upload-url')) answer(response, opened('a'));
      else if (method === 'PUT') response.end();
      else if (method === 'GET') answer(response, PENDING);
      else if (isCut) response.destroy();
      else answer(response, DONE);
    });
  const refuseAccess = () => {
    throw new DOMException('Not here.', 'QuotaExceededError');
  };
  const full = { getItem: () => null, setItem: refuseAccess, removeItem: () => {} };
  afterEach(() => vi.unstubAllGlobals());

  test.each([
    ['full', { value: full }],
    ['missing', { value: null }],
    ['blocked', { get: refuseAccess }],
  ])('continues in the same page where localStorage is %s', async (_name, localStorage) => {
    vi.stubGlobal('document', {});
    vi.stubGlobal('localStorage', undefined);
    Object.defineProperty(globalThis, 'localStorage', { configurable: true, ...localStorage });
    serve(true);
    await expect(upload({ resume: {} })).rejects.toMatchObject({ name: 'UploadError' });
    serve(false);
    expect(await upload({ resume: {} })).toEqual(DONE);
    expect(paths()[0]).toBe('GET /api/v1/media/a');
    serve(false);
    await upload({ resume: {} });
    expect(paths()[0]).toBe('POST /api/v1/media/upload-url');
  });
  test('succeeds where the store of the application rejects', async () => {
    const fails = () => Promise.reject(new Error('No database'));
    serve(false);
    const broken = { getItem: fails, setItem: fails, removeItem: fails };
    expect(await upload({ resume: { store: broken } })).toEqual(DONE);
  });
});

test('an upload that ends before its URL is saved leaves no entry', async () => {
  server.handle(({ method, path }, response) => {
    const tus = { protocol: 'tus', method: 'POST', url: `${server.url}/up`, headers: {}, max_bytes: 10_000 };
    if (path.endsWith('/upload-url')) return answer(response, { ...opened('a'), upload: tus });
    if (!path.startsWith('/up')) return answer(response, DONE);
    const offset = method === 'PATCH' ? file.size : 0;
    response.writeHead(201, { location: '/up/1', 'upload-offset': offset }).end();
  });
  let saved: Promise<void> | undefined;
  const slow: ResumeStore = {
    ...store,
    setItem: (key, value) => {
      if (!value.includes('reference')) return store.setItem(key, value);
      saved = sleep(200).then(() => store.setItem(key, value));
      return saved;
    },
  };
  await upload({ resume: { store: slow } });
  await saved;
  expect(saved).toBeDefined();
  expect(entries.size).toBe(0);
});
