// A page in Chromium uploads a video with @mediary/client as it is published, goes on after a reload, and
// follows events with the browser's own EventSource.
import { execFile } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { FileInspection, UploadProgress } from '@mediary/client';
import type { Browser, Page } from 'playwright-core';
import { rolldown } from 'rolldown';
import sharp from 'sharp';
import { thumbHashToApproximateAspectRatio, thumbHashToAverageRGBA } from 'thumbhash';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { launchChromium } from '../../support/playback/browser.ts';
import { makeClip } from '../../support/clips/clips.ts';
import { openUpload } from '../../support/media.ts';
import { asUser, call, startTestService, type TestService, tokenOf } from '../../support/service.ts';

const MIB = 1024 * 1024;
const SIZE = 24 * MIB;
const ROOT = join(import.meta.dirname, '../../..');

let folder: string;
let server: Server;
let service: TestService;
let browser: Browser;
let origin: string;
let file: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'mediary-sdk-page-'));
  server = await servePage();
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  service = await startTestService({
    CORS_ORIGINS: origin,
    RESUMABLE_UPLOAD_BYTES: String(MIB),
    EVENT_STREAM_MAX_S: '2',
  });
  browser = await launchChromium();
  file = join(folder, 'film.mp4');
  const clip = await readFile(await makeClip({ seconds: 1 }));
  await writeFile(file, Buffer.concat([clip, randomBytes(SIZE - clip.length)]));
});
afterAll(async () => {
  await browser?.close();
  await service?.stop();
  server?.close();
  await rm(folder, { recursive: true, force: true });
});

/** The chunks of the bundle by name: tus-js-client is one of its own. */
async function servePage(): Promise<Server> {
  const built = join(folder, 'built');
  await promisify(execFile)(process.execPath, [join(ROOT, 'packages/client/build.ts'), built]);
  await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  const bundle = await rolldown({
    input: join(import.meta.dirname, 'sdk-page.ts'),
    platform: 'browser',
    resolve: { alias: { '@mediary/client': join(built, 'index.js') } },
  });
  const { output } = await bundle.generate({ format: 'esm', minify: true, entryFileNames: 'page.js' });
  const files = new Map(output.map((part) => [`/${part.fileName}`, 'code' in part ? part.code : '']));
  const html =
    '<!doctype html><link rel="icon" href="data:,"><input type="file">' +
    '<script type="module" src="/page.js"></script>';
  const pages = createServer(({ url = '' }, response) => {
    const code = files.get(url);
    response.setHeader('content-type', code === undefined ? 'text/html' : 'text/javascript');
    response.end(code ?? html);
  });
  await new Promise<void>((resolve) => {
    pages.listen(0, '127.0.0.1', resolve);
  });
  return pages;
}

async function open(page: Page): Promise<void> {
  await page.goto(origin);
  await page.waitForFunction('globalThis.page');
  await page.setInputFiles('input', file);
}
const progressOf = (page: Page) => page.evaluate<UploadProgress[]>('page.progress');

test('the progress rises, a reload loses nothing, and the video is ready', async () => {
  const page = await browser.newPage();
  const credentials = [service.address, tokenOf('ann')].map((text) => JSON.stringify(text));
  const call = `page.upload(${credentials.join()})`;
  const network = await page.context().newCDPSession(page);
  const throttle = (uploadThroughput: number) =>
    network.send('Network.emulateNetworkConditions', {
      offline: false,
      latency: 0,
      downloadThroughput: -1,
      uploadThroughput,
    });
  await throttle(8 * MIB);
  await open(page);
  await page.evaluate(`void ${call}`);
  await page.waitForFunction(`page.progress.some(({ bytesSent }) => bytesSent > ${SIZE / 2})`);
  const first = await progressOf(page);
  expect(new Set(first.map(({ bytesSent }) => bytesSent)).size, 'steps of the progress').toBeGreaterThan(5);

  await open(page);
  // Before the reload, the rest would arrive at once.
  await throttle(-1);
  const asset = await page.evaluate<Record<string, unknown>>(call);
  const second = await progressOf(page);
  const sent = second.filter(({ phase }) => phase === 'uploading').map(({ bytesSent }) => bytesSent);
  expect(
    sent.find((bytes) => bytes > 0),
    'what had arrived is not sent again',
  ).toBeGreaterThan(SIZE / 4);
  expect(second.at(-1)).toMatchObject({ phase: 'completing', bytesSent: SIZE, totalBytes: SIZE });
  expect(asset).toMatchObject({
    stream_status: 'ready',
    checksum_sha256: createHash('sha256')
      .update(await readFile(file))
      .digest('hex'),
  });
  expect(await page.evaluate('localStorage.length'), 'nothing is left to continue').toBe(0);
});

test('an inspection computes a ThumbHash of what the browser can decode, as it is shown', async () => {
  const picture = await sharp({ create: { width: 300, height: 200, channels: 3, background: '#ff0000' } })
    .withMetadata({ orientation: 6 })
    .jpeg()
    .toBuffer();
  const page = await browser.newPage();
  await page.goto(origin);
  await page.waitForFunction('globalThis.page');
  const inspect = async (chosen: Parameters<Page['setInputFiles']>[1]) => {
    await page.setInputFiles('input', chosen);
    const found = await page.evaluate<FileInspection>('page.inspect()');
    return { found, hash: Buffer.from(found.placeholder ?? '', 'base64') };
  };
  const image = await inspect({ name: 'red.jpg', mimeType: 'image/jpeg', buffer: picture });
  expect(image.found).toMatchObject({ width: 200, height: 300, rotation: 90, refusals: [] });
  expect(thumbHashToApproximateAspectRatio(image.hash)).toBeCloseTo(2 / 3, 0);
  expect(thumbHashToAverageRGBA(image.hash)).toMatchObject({ r: expect.closeTo(1, 1), a: 1 });
  const video = await inspect(file);
  expect(video.found).toMatchObject({ width: 320, height: 180, video: { codec: 'h264' }, refusals: [] });
  expect(thumbHashToApproximateAspectRatio(video.hash)).toBeCloseTo(16 / 9, 0);
  const damaged = await inspect({ name: 'a.png', mimeType: 'image/png', buffer: picture });
  expect(damaged.found.refusals.map(({ code }) => code)).toEqual(['type_mismatch']);
  await page.close();
});

test('EventSource follows events, reconnects, and closes when its ticket is refused', async () => {
  const page = await browser.newPage();
  await page.goto(origin);
  await page.waitForFunction('globalThis.page');
  const credentials = [service.address, tokenOf('eve')].map((text) => JSON.stringify(text));
  await page.evaluate(`page.follow(${credentials.join()})`);
  const { asset_id: id } = await openUpload(service, 'eve');
  await page.waitForFunction('page.stream.types.length === 1');
  await page.waitForFunction('page.stream.opened > 1');
  await call(service, `PATCH /media/${id}`, { headers: asUser('eve'), json: { title: 'One' } });
  await page.waitForFunction('page.stream.types.length === 2');
  expect(await page.evaluate('page.stream.types')).toEqual(['asset.created', 'asset.updated']);
  await page.evaluate(`page.follow(${credentials.join()}, 'x')`);
  await page.waitForFunction('page.stream.readyState === 2');
  await page.close();
});
