// Uploads that an earlier call began, against a server that loses responses and refuses requests.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { answer, type ApiServer, startApiServer } from '../api-server.fixture.ts';
import { createMediary } from '../mediary.ts';
import type { ResumeStore } from './resume-store.ts';
import type { UploadOptions } from './upload.ts';

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
