// A wait that ends before the asset is ready.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runProgram } from '../program.ts';

const ASSET = { id: 'a-1', stream_status: 'processing', progress: 0, filename: 'film.mp4', deleted_at: null };

let folder: string;
let server: Server;
let url: string;
let onWait: (() => void) | undefined;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'mediary-upload-'));
  await writeFile(join(folder, 'film.mp4'), 'bytes');
  server = createServer((request, response) => {
    const upload = { protocol: 'put', method: 'PUT', url: `${url}/up`, headers: {}, max_bytes: 1000 };
    const isOpening = request.url?.endsWith('/upload-url');
    const data = isOpening ? { asset_id: 'a-1', asset: ASSET, upload, alternatives: [] } : ASSET;
    if (request.url?.endsWith('/events')) {
      response.statusCode = 404;
      onWait?.();
    }
    request.resume().on('end', () => response.end(JSON.stringify({ success: true, data })));
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(async () => {
  server.close();
  await rm(folder, { recursive: true });
});

async function run(signal: AbortSignal, ...args: string[]) {
  const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()];
  const env = { HOME: folder, MEDIARY_URL: url, MEDIARY_TOKEN: 'secret' };
  const code = await runProgram({ env, folder, stdin, stdout, stderr, signal }, args);
  stdout.end();
  stderr.end();
  return { code, stdout: await text(stdout), stderr: await text(stderr) };
}

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
