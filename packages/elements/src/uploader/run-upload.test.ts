// Another attempt of a failed upload, with the SDK and a service that answers every request.
import { AssetFailedError, type Asset } from '@mediary/client';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { openConnection } from './connection.ts';
import { retryUpload } from './run-upload.ts';
import { createItem } from './upload-item.ts';
import type { UploaderContext } from './uploader-context.ts';

const requests: string[] = [];
beforeEach(() => void requests.splice(0));
afterEach(() => vi.unstubAllGlobals());

const READY = { id: 'a', stream_status: 'ready', uploaded_at: 'now', deleted_at: null, visibility: 'public' };
const TARGET = {
  protocol: 'put',
  method: 'PUT',
  url: 'https://media.test/bytes',
  headers: {},
  max_bytes: 100,
};

/** `retry`: what the service answers to it. */
function serve(retry: object | undefined): void {
  const answer = (path: string): object | undefined => {
    if (path.endsWith('/retry')) return retry;
    if (path.endsWith('/upload-url')) return { asset_id: 'b', upload: TARGET, alternatives: [] };
    return path.endsWith('/events') ? undefined : READY;
  };
  vi.stubGlobal('fetch', async (input: string, init: RequestInit) => {
    const { pathname } = new URL(input);
    requests.push(`${init.method} ${pathname}`);
    const data = answer(pathname);
    return new Response(JSON.stringify({ success: true, data }), { status: data ? 200 : 403 });
  });
}

function createContext(): UploaderContext {
  const connection = openConnection({
    endpoint: undefined,
    baseUrl: 'https://media.test',
    headers: undefined,
    token: 'secret',
    concurrency: 1,
  });
  return {
    connection: () => connection,
    memory: () => ({ claim: async () => () => {}, save: () => {}, remove: () => {} }),
    uploadOptions: () => ({}),
    isInspecting: () => false,
    onChange: () => {},
    emit: () => {},
  } as unknown as UploaderContext;
}

async function tryAgain() {
  const file = new File(['12345'], 'film.mp4', { type: 'video/mp4' });
  const error = new AssetFailedError({ failure: { code: 'upload_failed', retryable: true } } as Asset);
  const item = createItem(file, { file, assetId: 'a', isUploaded: true, phase: 'failed', error });
  await retryUpload(createContext(), item);
  return item;
}

const REOPENED = { asset_id: 'a', upload: TARGET, alternatives: [] };

test('the bytes go to the asset that was opened again', async () => {
  serve(REOPENED);
  expect(await tryAgain()).toMatchObject({ phase: 'ready', isReopened: false });
  expect(requests).not.toContain('POST /api/v1/media/upload-url');
  expect(requests).toContain('PUT /bytes');
  expect(requests).toContain('POST /api/v1/media/a/complete');
});

test('a new asset gets them where the caller may not open it again', async () => {
  serve(undefined);
  expect(await tryAgain()).toMatchObject({ phase: 'ready' });
  expect(requests).toContain('POST /api/v1/media/upload-url');
  expect(requests).toContain('POST /api/v1/media/b/complete');
});

test('nothing is sent where the service has them', async () => {
  serve({ ...REOPENED, upload: null });
  expect(await tryAgain()).toMatchObject({ phase: 'ready' });
  expect(requests.filter((request) => /upload-url|bytes|complete/.test(request))).toEqual([]);
});
