// Slow imports of one owner and of several, and anonymous viewers of one owner's videos, hold what they can:
// another owner's import starts and its frames are served in time.
import { readFile, rm } from 'node:fs/promises';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeClip } from '../support/clips/clips.ts';
import { startImport } from '../support/uploads/imports.ts';
import { type AssetJson, offer, settled } from '../support/media.ts';
import { bombPng } from '../support/clips/pictures.ts';
import { asUser } from '../support/service.ts';
import { newDatabaseDir } from '../support/service/data-folders.ts';
import { endAllIn, type ServiceProcess, startProcess } from '../support/service/service-process.ts';

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
/** Where the requests of a slow file began, by path. */
const starts = new Map<string, number[]>();
/** Slow files that are being read. */
const open = new Set<string>();

function sendSlowly(path: string, range: string | undefined, response: ServerResponse): void {
  const start = Number(/^bytes=(\d+)-$/.exec(range ?? '')?.[1] ?? 0);
  starts.set(path, [...(starts.get(path) ?? []), start]);
  open.add(path);
  response.writeHead(start > 0 ? 206 : 200, {
    'content-type': 'video/mp4',
    etag: '"film"',
    'content-length': DRIP.total - start,
    ...(start > 0 && { 'content-range': `bytes ${start}-${DRIP.total - 1}/${DRIP.total}` }),
  });
  const drip = () => response.write(Buffer.alloc(DRIP.bytes));
  drip();
  const timer = setInterval(drip, DRIP.everyMs);
  response.once('close', () => {
    clearInterval(timer);
    open.delete(path);
  });
}

const startService = () => startProcess({ DATA_DIR: dataDir, OUTBOUND_ALLOW_PRIVATE: 'import' });

beforeAll(async () => {
  const picture = bombPng(64, 64);
  source = createServer((request, response) => {
    const path = request.url ?? '';
    if (!requested.has(path)) requested.set(path, performance.now());
    if (!path.startsWith('/slow')) {
      response.writeHead(200, { 'content-type': 'image/png', 'content-length': picture.length });
      return void response.end(picture);
    }
    sendSlowly(path, request.headers.range, response);
  });
  await new Promise<void>((resolve) => {
    source.listen(0, '127.0.0.1', resolve);
  });
  sourceUrl = `http://127.0.0.1:${(source.address() as AddressInfo).port}`;
  dataDir = await newDatabaseDir();
  service = await startService();
});

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

test('the import of another owner starts while several owners import from slow servers', async () => {
  const owners = Array.from({ length: 5 }, (_, number) => `slow-${number}`);
  for (const owner of owners)
    await startImport(
      service,
      { url: `${sourceUrl}/${owner}-own.mp4`, filename: 'film.mp4', mime_type: 'video/mp4' },
      asUser(owner),
    );
  await expect.poll(() => open.size, { timeout: 30_000 }).toBe(SLOTS);
  const sentAt = performance.now();
  const started = await startImport(
    service,
    { url: `${sourceUrl}/second.png`, filename: 'picture.png', mime_type: 'image/png' },
    asUser('bob'),
  );
  expect(await settled(service, 'bob', started.id)).toMatchObject({ stream_status: 'ready' });
  expect((requested.get('/second.png') ?? Number.POSITIVE_INFINITY) - sentAt).toBeLessThan(
    IMPORT_STARTS_WITHIN_MS,
  );
});

test('an import whose process is killed continues after the bytes that earlier turns stored', async () => {
  const findContinued = () => [...open].find((path) => (starts.get(path)?.at(-1) ?? 0) > 0);
  await expect.poll(findContinued, { timeout: 30_000 }).toBeDefined();
  const path = findContinued() ?? '';
  const before = starts.get(path) ?? [];
  await service.end('SIGKILL');
  service = await startService();
  await expect.poll(() => starts.get(path)?.length, { timeout: 90_000 }).toBeGreaterThan(before.length);
  expect(starts.get(path)?.[before.length]).toBeGreaterThanOrEqual(before.at(-1) ?? 0);
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
