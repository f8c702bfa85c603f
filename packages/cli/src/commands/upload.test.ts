// A wait that ends before the asset is ready.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import type { Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runInProcess, serve } from '../program.fixture.ts';

const ASSET = { id: 'a-1', stream_status: 'processing', progress: 0, filename: 'film.mp4', deleted_at: null };

let folder: string;
let server: Server;
let url: string;
let onWait: (() => void) | undefined;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'mediary-upload-'));
  await writeFile(join(folder, 'film.mp4'), 'bytes');
  ({ server, url } = await serve((request, response) => {
    const upload = { protocol: 'put', method: 'PUT', url: `${url}/up`, headers: {}, max_bytes: 1000 };
    const isOpening = request.url?.endsWith('/upload-url');
    const data = isOpening ? { asset_id: 'a-1', asset: ASSET, upload, alternatives: [] } : ASSET;
    if (request.url?.endsWith('/events')) {
      response.statusCode = 404;
      onWait?.();
    }
    request.resume().on('end', () => response.end(JSON.stringify({ success: true, data })));
  }));
});
afterAll(async () => {
  server.close();
  await rm(folder, { recursive: true });
});

const run = (signal: AbortSignal, ...args: string[]) =>
  runInProcess(args, { env: { HOME: folder, MEDIARY_URL: url, MEDIARY_TOKEN: 'secret' }, folder, signal });

test('an interrupted wait prints the asset, and does not offer to continue the upload', async () => {
  const controller = new AbortController();
  onWait = () => controller.abort();
  const result = await run(controller.signal, 'upload', join(folder, 'film.mp4'), '--wait');
  expect(result).toMatchObject({ code: 130, stdout: expect.stringMatching(/^a-1 /) });
  expect(result.stderr).not.toContain('continues the upload');
});

test('a wait that takes too long prints the asset', async () => {
  onWait = undefined;
  const { signal } = new AbortController();
  const result = await run(signal, 'import', 'https://media.test/film.mp4', '--wait', '--timeout', '1s');
  expect(result).toMatchObject({ code: 6, stdout: expect.stringMatching(/^a-1 /) });
});
