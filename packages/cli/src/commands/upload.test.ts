// Uploads of folders, and a wait that ends before the asset is ready.
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import type { Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runInProcess, serve } from '../program.fixture.ts';

const ASSET = { id: 'a-1', stream_status: 'processing', progress: 0, filename: 'film.mp4', deleted_at: null };

let folder: string;
let server: Server;
let url: string;
let onWait: (() => void) | undefined;
/** Uploads of bytes at the same time, and how many there were at most. */
const sending = { now: 0, most: 0 };
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
    const answer = (): void => {
      response.end(JSON.stringify({ success: true, data }));
    };
    if (request.url !== '/up') return request.resume().on('end', answer);
    sending.now += 1;
    sending.most = Math.max(sending.most, sending.now);
    request.resume().on('end', () => {
      setTimeout(() => {
        sending.now -= 1;
        answer();
      }, 200);
    });
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

describe('a folder', () => {
  const { signal } = new AbortController();
  let media: string;
  beforeAll(async () => {
    media = join(folder, 'media');
    await mkdir(join(media, 'more'), { recursive: true });
    for (const name of ['a.mp4', 'b.jpg', 'notes.txt', '.hidden.mp4', 'more/c.webm', 'more/d.png'])
      await writeFile(join(media, name), name);
  });

  test('is refused, with the option that uploads it', async () => {
    const { code, stdout, stderr } = await run(signal, 'upload', media);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toContain(`${media} is a folder.\nUpload the files in it`);
    expect(stderr).toContain('--recursive');
  });

  test('sends its images and videos, so many at a time, and skips the others', async () => {
    sending.most = 0;
    const { code, stdout, stderr } = await run(signal, 'upload', media, '-r', '--concurrency', '2');
    expect([code, stdout.trimEnd().split('\n').length, sending.most]).toEqual([0, 4, 2]);
    expect(stderr).toContain('notes.txt: skipped, neither an image nor a video by its name');
    expect(stderr).not.toContain('hidden');
  });

  test('is refused as a whole if other files are', async () => {
    sending.most = 0;
    const { code, stderr } = await run(signal, 'upload', media, '-r', '--other-files', 'refuse');
    expect([code, sending.most]).toEqual([2, 0]);
    expect(stderr).toContain('notes.txt');
  });
});

test('files after one that cannot reach the service are not tried', async () => {
  const { signal } = new AbortController();
  const files = [join(folder, 'film.mp4'), join(folder, 'media/a.mp4')];
  const { code, stderr } = await run(signal, 'upload', ...files, '--url', 'http://127.0.0.1:9');
  expect(code).toBe(7);
  expect(stderr).toContain('film.mp4: The connection failed');
  expect(stderr).not.toContain('a.mp4: The');
});

test('the asset comes with the next step', async () => {
  const { signal } = new AbortController();
  const { stderr } = await run(signal, 'upload', join(folder, 'film.mp4'));
  expect(stderr).toContain('Follow it: mediary watch a-1');
});
