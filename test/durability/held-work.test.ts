// One owner's slow imports, and anonymous viewers of one owner's videos, hold what they can: another owner's
// import starts and its frames are served in time.
import { readFile, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeClip } from '../support/clips.ts';
import { startImport } from '../support/imports.ts';
import { type AssetJson, offer, settled } from '../support/media.ts';
import { bombPng } from '../support/pictures.ts';
import { asUser, newDatabaseDir } from '../support/service.ts';
import { endAllIn, type ServiceProcess, startProcess } from '../support/service-process.ts';

const IMPORT_STARTS_WITHIN_MS = 10_000;
const FRAME_WITHIN_MS = 5000;
/** As many as IMPORT_MAX_CONCURRENT. */
const SLOTS = 4;
const DRIP = { bytes: 3000, everyMs: 5000, total: 100_000_000 };
const VIEWERS_PER_VIDEO = 4;

let dataDir: string;
let service: ServiceProcess;
let source: Server;
let sourceUrl: string;
/** Times of the first requests, by path. */
const requested = new Map<string, number>();

beforeAll(async () => {
  const picture = bombPng(64, 64);
  source = createServer((request, response) => {
    const path = request.url ?? '';
    if (!requested.has(path)) requested.set(path, performance.now());
    if (!path.startsWith('/slow')) {
      response.writeHead(200, { 'content-type': 'image/png', 'content-length': picture.length });
      return void response.end(picture);
    }
    response.writeHead(200, { 'content-type': 'video/mp4', 'content-length': DRIP.total });
    const drip = () => response.write(Buffer.alloc(DRIP.bytes));
    drip();
    const timer = setInterval(drip, DRIP.everyMs);
    response.once('close', () => clearInterval(timer));
  });
  await new Promise<void>((resolve) => {
    source.listen(0, '127.0.0.1', resolve);
  });
  sourceUrl = `http://127.0.0.1:${(source.address() as AddressInfo).port}`;
  dataDir = await newDatabaseDir();
  service = await startProcess({ DATA_DIR: dataDir, OUTBOUND_ALLOW_PRIVATE: 'import' });
}, 120_000);

afterAll(async () => {
  await service?.end('SIGKILL');
  source?.closeAllConnections();
  source?.close();
  await endAllIn(dataDir);
  await rm(dataDir, { recursive: true, force: true, maxRetries: 5 });
});

test('the import of another owner starts while one owner imports from slow servers', async () => {
  const slow = Array.from({ length: SLOTS + 2 }, (_, number) => `/slow-${number}.mp4`);
  for (const path of slow)
    await startImport(
      service,
      { url: `${sourceUrl}${path}`, filename: 'film.mp4', mime_type: 'video/mp4' },
      asUser('eve'),
    );
  await expect
    .poll(() => slow.filter((path) => requested.has(path)).length, { timeout: 30_000 })
    .toBe(SLOTS - 1);
  const sentAt = performance.now();
  const started = await startImport(
    service,
    { url: `${sourceUrl}/picture.png`, filename: 'picture.png', mime_type: 'image/png' },
    asUser('bob'),
  );
  expect(await settled(service, 'bob', started.id)).toMatchObject({ stream_status: 'ready' });
  expect((requested.get('/picture.png') ?? Number.POSITIVE_INFINITY) - sentAt).toBeLessThan(
    IMPORT_STARTS_WITHIN_MS,
  );
  expect(slow.filter((path) => requested.has(path))).toHaveLength(SLOTS - 1);
});

async function uploadVideo(user: string, bytes: Uint8Array): Promise<AssetJson> {
  const fields = { visibility: 'public' };
  return settled(service, user, (await offer(service, user, { bytes, fields })).id);
}

test('the frames of a video are served while viewers ask for those of another owner', async () => {
  const clip = await readFile(await makeClip({ seconds: 30, width: 320, height: 180 }));
  const [own, ...others] = await Promise.all([
    uploadVideo('bob', clip),
    ...Array.from({ length: 4 }, () => uploadVideo('eve', clip)),
  ]);
  expect([own, ...others].map((asset) => asset?.stream_status)).toEqual(Array(5).fill('ready'));
  const frame = (id: string | undefined, tenths: number) =>
    fetch(`${service.url}/playback/${id}/frame.jpg?t=${tenths / 10}&w=320`, { redirect: 'manual' });
  const statuses = new Set<number>();
  let isOver = false;
  let tenths = 0;
  const viewers = others.flatMap(({ id }) =>
    Array.from({ length: VIEWERS_PER_VIDEO }, async () => {
      while (!isOver) {
        tenths = (tenths + 1) % 290;
        const response = await frame(id, tenths);
        await response.arrayBuffer();
        statuses.add(response.status);
      }
    }),
  );
  const times: number[] = [];
  const served: number[] = [];
  for (let number = 0; number < 10; number += 1) {
    const sentAt = performance.now();
    const response = await frame(own?.id, 10 + number * 20);
    await response.arrayBuffer();
    served.push(response.status);
    times.push(performance.now() - sentAt);
  }
  isOver = true;
  await Promise.all(viewers);
  expect(served).toEqual(Array(10).fill(200));
  expect(Math.max(...times)).toBeLessThan(FRAME_WITHIN_MS);
  expect([...statuses].filter((status) => ![200, 302, 503].includes(status))).toEqual([]);
});
