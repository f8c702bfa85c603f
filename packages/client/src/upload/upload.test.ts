// Uploads against a server that loses responses, connections and parts.
import { getEventListeners } from 'node:events';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { answer, type ApiServer, refuse, startApiServer } from '../api-server.fixture.ts';
import { createMediary } from '../mediary.ts';
import type { ResumeStore } from './resume-store.ts';
import type { UploadOptions, UploadProgress } from './upload-options.ts';

let server: ApiServer;
beforeAll(async () => {
  server = await startApiServer();
});
afterAll(() => server.close());

const PART = 1000;
const file = new File([Buffer.alloc(3 * PART + 1, 5)], 'film.mp4', { lastModified: 1 });
const media = () => createMediary({ baseUrl: server.url, token: 'secret', maxRetries: 2 }).media;
const paths = () => server.requests.map(({ method, path }) => `${method} ${path}`);

function target(protocol: string, more: object = {}): object {
  const path = `/up/${protocol}`;
  const method = protocol === 'put' ? 'PUT' : 'POST';
  return { protocol, method, url: `${server.url}${path}?ticket=t`, headers: {}, max_bytes: 10_000, ...more };
}
const opened = (upload: object, alternatives: readonly object[] = []) => ({
  asset_id: 'a',
  asset: {},
  upload,
  alternatives,
});
const DONE = { id: 'a', stream_status: 'processing' };

describe('one request', () => {
  test('is sent again when it breaks, and counts as sent when the first one arrived', async () => {
    let puts = 0;
    server.handle(({ method, path }, response) => {
      if (path.endsWith('/upload-url'))
        return answer(response, opened(target('put', { headers: { 'x-type': 'v' } })));
      if (method !== 'PUT') return answer(response, DONE);
      puts += 1;
      if (puts === 1) response.destroy();
      else refuse(response, { status: 409, code: 'CONFLICT', details: { reason: 'already_uploaded' } });
    });
    expect(await media().upload(file, { resume: false })).toEqual(DONE);
    const [, put, again] = server.requests;
    expect(put).toMatchObject({
      path: '/up/put?ticket=t',
      headers: { 'x-type': 'v', 'content-length': '3001' },
    });
    expect(put?.headers).not.toHaveProperty('authorization');
    expect(again?.body).toEqual(Buffer.alloc(3001, 5));
  });
  test('is a form with the fields of the target', async () => {
    server.handle(({ path }, response) => {
      if (path.endsWith('/upload-url'))
        answer(response, opened(target('form', { fields: { token: 'x' }, max_bytes: 1e6 })));
      else if (path.startsWith('/up/')) response.end('ok');
      else answer(response, DONE);
    });
    await media().upload(file);
    const body = server.requests[1]?.body.toString() ?? '';
    expect(body).toMatch(/name="token"\r\n\r\nx\r\n[\s\S]*name="file"; filename="film.mp4"/);
    const long = new File([Buffer.alloc(600_000)], 'film.mp4');
    const seen: number[] = [];
    await media().upload(long, { onProgress: ({ bytesSent }) => seen.push(bytesSent) });
    expect(seen, 'its progress is seen').toContain(2 * 256 * 1024);
  });
  test('is completed when the response to a form was lost, which is accepted once', async () => {
    let forms = 0;
    server.handle(({ path }, response) => {
      if (path.endsWith('/upload-url')) return answer(response, opened(target('form')));
      if (!path.startsWith('/up/')) return answer(response, DONE);
      forms += 1;
      if (forms === 1) response.destroy();
      else refuse(response, { status: 400, code: 'USED' });
    });
    expect(await media().upload(file)).toEqual(DONE);
    expect(forms).toBe(2);
  });
  test('is completed when the video provider shows the upload', async () => {
    let early = 2;
    server.handle(({ path }, response) => {
      if (path.endsWith('/upload-url')) return answer(response, opened(target('form')));
      if (path.startsWith('/up/')) return response.end('ok');
      early -= 1;
      if (early < 0) answer(response, DONE);
      else refuse(response, { status: 400, code: 'BAD_REQUEST', details: { reason: 'not_uploaded' } });
    });
    expect(await media().upload(file)).toEqual(DONE);
    expect(paths().filter((path) => path.startsWith('POST /up/'))).toHaveLength(1);
  });
  test('goes to the first target that takes the file', async () => {
    server.handle(({ path }, response) => {
      if (!path.endsWith('/upload-url'))
        return path.startsWith('/up/') ? response.end() : answer(response, DONE);
      answer(response, opened(target('form', { max_bytes: 100 }), [target('new-protocol'), target('put')]));
    });
    await media().upload(file, { resume: false });
    expect(paths()[1]).toBe('PUT /up/put?ticket=t');
  });
  test('that fails for good is an UploadError with the id of the asset', async () => {
    server.handle(({ path }, response) => {
      if (path.endsWith('/upload-url')) answer(response, opened(target('put')));
      else refuse(response, { status: 413, code: 'PAYLOAD_TOO_LARGE', details: { limit: 5 } });
    });
    await expect(media().upload(file, { resume: false })).rejects.toMatchObject({
      name: 'UploadError',
      assetId: 'a',
      errorCode: 'PAYLOAD_TOO_LARGE',
      status: 413,
      details: { limit: 5 },
    });
  });
});

describe('parts', () => {
  /** Parts that the store has. */
  const stored = new Set<number>();
  let failing: (part: number) => boolean;
  beforeEach(() => {
    stored.clear();
    failing = () => false;
    server.handle(({ method, path }, response) => {
      const [, part = ''] = /s3-multipart\/u1\/(\d+)/.exec(path) ?? [];
      if (path.endsWith('/upload-url'))
        answer(response, opened(target('s3-multipart', { part_size_bytes: PART })));
      else if (path.startsWith('/store/')) receivePart(Number(path.slice(7)), response);
      else if (part)
        answer(response, { method: 'PUT', url: `${server.url}/store/${part}`, headers: { 'x-part': part } });
      else if (method === 'GET' && path.startsWith('/up/'))
        answer(response, { parts: [...stored].map((PartNumber) => ({ PartNumber })) });
      else if (path.startsWith('/up/')) answer(response, { uploadId: 'u1', part_size_bytes: PART });
      else
        answer(
          response,
          method === 'GET'
            ? { id: 'a', stream_status: 'pending_upload', uploaded_at: null, deleted_at: null }
            : DONE,
        );
    });
  });
  function receivePart(part: number, response: Parameters<typeof answer>[0]): void {
    if (failing(part)) return void response.writeHead(403).end('<Error/>');
    stored.add(part);
    response.end();
  }
  const entries = new Map<string, string>();
  const store: ResumeStore = {
    getItem: (key) => entries.get(key) ?? null,
    setItem: async (key, value) => void entries.set(key, value),
    removeItem: (key) => void entries.delete(key),
  };
  const upload = (options: UploadOptions = {}) => media().upload(file, { resume: { store }, ...options });

  test('are signed one by one, with a new URL when one was refused, and joined', async () => {
    let refusals = 1;
    failing = (part) => part === 2 && refusals-- > 0;
    const seen: number[] = [];
    await upload({ onProgress: ({ bytesSent }) => seen.push(bytesSent) });
    expect([...stored].sort()).toEqual([1, 2, 3, 4]);
    expect(paths().filter((path) => path.includes('/u1/2?'))).toEqual(
      Array(2).fill('GET /up/s3-multipart/u1/2?size_bytes=1000&ticket=t'),
    );
    expect(paths()).toContain('GET /up/s3-multipart/u1/4?size_bytes=1&ticket=t');
    expect(paths().at(-2)).toBe('POST /up/s3-multipart/u1/complete?ticket=t');
    expect(Math.max(...seen)).toBe(file.size);
    expect(entries.size).toBe(0);
  });
  test('that the store has are not sent again by the next call', async () => {
    failing = (part) => part > 2;
    await expect(upload()).rejects.toMatchObject({ name: 'UploadError', status: 403 });
    expect(entries.size).toBe(1);
    failing = () => false;
    server.requests.length = 0;
    await upload();
    expect(
      paths()
        .filter((path) => path.includes('/store/'))
        .sort(),
    ).toEqual(['PUT /store/3', 'PUT /store/4']);
    expect(paths()).not.toContain('POST /api/v1/media/upload-url');
    expect(entries.size).toBe(0);
  });
  test('stop when the signal aborts, and can go on later', async () => {
    const controller = new AbortController();
    failing = () => {
      controller.abort('paused');
      return false;
    };
    await expect(upload({ signal: controller.signal })).rejects.toBe('paused');
    expect(stored.size).toBeLessThan(5);
    expect(entries.size).toBe(1);
    entries.clear();
  });
});

test('a tus server that still stores an interrupted request is asked for its offset again', async () => {
  let offset = 1000;
  server.handle(({ method, path, headers, body }, response) => {
    if (path.endsWith('/upload-url'))
      return answer(response, opened(target('tus', { method: 'PATCH', chunk_size_bytes: 10_000 })));
    if (!path.startsWith('/up/')) return answer(response, DONE);
    const isStale = Number(headers['upload-offset']) !== offset && method === 'PATCH';
    if (method === 'HEAD') {
      response.setHeader('upload-length', file.size);
      response.setHeader('upload-offset', offset);
      if (offset === 1000) offset = 2000;
    } else if (!isStale) offset += body.length;
    if (!isStale && method === 'PATCH') response.setHeader('upload-offset', offset);
    response.writeHead(isStale ? 409 : 204).end();
  });
  const { signal } = new AbortController();
  expect(await media().upload(file, { resume: false, signal })).toEqual(DONE);
  expect(getEventListeners(signal, 'abort'), 'the signal does not keep the file').toEqual([]);
  const toTus = server.requests.filter(({ path }) => path.startsWith('/up/tus'));
  expect(toTus.map(({ method, body }) => `${method} ${body.length}`)).toEqual([
    'HEAD 0',
    `PATCH ${file.size - 1000}`,
    'HEAD 0',
    `PATCH ${file.size - 2000}`,
  ]);
});

test('a tus upload whose signal aborts before its first request sends nothing', async () => {
  server.handle(({ path }, response) => {
    if (path.endsWith('/upload-url')) answer(response, opened(target('tus')));
    else response.destroy();
  });
  const controller = new AbortController();
  const onProgress = ({ phase }: UploadProgress) => phase === 'uploading' && controller.abort('paused');
  const { signal } = controller;
  await expect(media().upload(file, { resume: false, signal, onProgress })).rejects.toBe('paused');
  expect(paths()).toEqual(['POST /api/v1/media/upload-url']);
});

test('a Blob needs a name, and a known type', async () => {
  await expect(media().upload(new Blob(['x']))).rejects.toThrow(TypeError);
  await expect(media().upload(new Blob(['x']), { filename: 'film.xyz' })).rejects.toThrow('mimeType');
});
