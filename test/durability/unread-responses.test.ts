// Clients that request much and read nothing: others are still served, the connections are closed, and the
// memory is released.
import { randomBytes } from 'node:crypto';
import { readFile, rm } from 'node:fs/promises';
import type { Socket } from 'node:net';
import { setInterval as every } from 'node:timers/promises';
import sharp from 'sharp';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { expectSuccess } from '../support/http/envelope.ts';
import { complete, IMAGE, openUpload, putBytes, settled } from '../support/media.ts';
import { openSocket } from '../support/http/raw-socket.ts';
import { asUser, call, eventually } from '../support/service.ts';
import { newDatabaseDir } from '../support/service/data-folders.ts';
import { endAllIn, type ServiceProcess, startProcess } from '../support/service/service-process.ts';

const MIB = 1024 * 1024;
const HEADERS = asUser('ann');
/** What a flood may cost while it lasts: a response for each connection, and garbage. */
const MOST_ABOVE_IDLE = 300 * MIB;
/** The heap stays grown; unsent responses would take several times as much. */
const MOST_AFTERWARDS = 64 * MIB;
/** Longer than responses may stall, and than the runtime takes to return what it no longer needs. */
const BACK_WITHIN_MS = 120_000;

let dataDir: string;
let service: ServiceProcess;
let id: string;
let picture: string;
let idle: number;

beforeAll(async () => {
  dataDir = await newDatabaseDir();
  service = await startProcess({ DATA_DIR: dataDir });
  const noise = await sharp(randomBytes(700 * 700 * 3), { raw: { width: 700, height: 700, channels: 3 } })
    .png({ compressionLevel: 0 })
    .toBuffer();
  const started = await openUpload(service, 'ann', { ...IMAGE, visibility: 'public' });
  id = started.asset_id;
  expectSuccess(await putBytes(started, noise));
  expectSuccess(await complete(service, 'ann', id));
  expect(await settled(service, 'ann', id)).toMatchObject({ stream_status: 'ready' });
  picture = `/api/v1/playback/${id}/image?w=640&format=jpeg`;
  // What an honest load of that size leaves is no leak: the heap grows, and stays grown.
  for (let round = 0; round < 5; round += 1) await askHonestly();
  idle = await lowestResidentBytes();
}, 300_000);

afterAll(async () => {
  await service?.end('SIGKILL');
  await endAllIn(dataDir);
  await rm(dataDir, { recursive: true, force: true, maxRetries: 5 });
});

/** As many connections as a flood has, each read to its end. */
async function askHonestly(): Promise<void> {
  const paths = Array.from({ length: 100 }, (_, index) => (index % 3 ? picture : '/api/v1/openapi.json'));
  await Promise.all(
    paths.map(async (path) => {
      const answer = await fetch(`${new URL(service.url).origin}${path}`);
      expect(answer.status).toBe(200);
      await answer.arrayBuffer();
    }),
  );
}

const residentBytes = async (): Promise<number> =>
  Number(/^VmRSS:\s+(\d+) kB$/m.exec(await readFile(`/proc/${service.pid}/status`, 'utf8'))?.[1]) * 1024;

/** Unused buffers are freed after some seconds: the measurement spans them. */
async function lowestResidentBytes(): Promise<number> {
  const seen: number[] = [];
  for await (const _ of every(500)) {
    seen.push(await residentBytes());
    if (seen.length === 30) break;
  }
  return Math.min(...seen);
}

type Flood = { readonly path: string; readonly sockets: number; readonly requests: number };

/**
 * Opens the connections and sends all requests ahead; resolves when the service has closed every one of them.
 */
async function flood({ path, sockets, requests }: Flood): Promise<number> {
  const ahead = `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`.repeat(requests);
  const open = await Promise.all(Array.from({ length: sockets }, () => openSocket(service.url)));
  let closed = 0;
  for (const socket of open) {
    socket.on('error', () => {}); // A reset ends it as well.
    socket.once('close', () => {
      closed += 1;
    });
    socket.pause().write(ahead);
  }
  const highest = await watch(open, () => closed === sockets);
  for (const socket of open) socket.destroy();
  return highest;
}

/** The most memory that the service took until the flood was over; another caller asks all the while. */
async function watch(open: readonly Socket[], isOver: () => boolean): Promise<number> {
  let highest = 0;
  await eventually(
    async () => {
      highest = Math.max(highest, await residentBytes());
      expectSuccess(await call(service, `GET /media/${id}`, { headers: HEADERS }));
      // A paused socket learns of its end only by writing.
      for (const socket of open) if (socket.writable) socket.write('\r\n');
      return isOver();
    },
    (over) => over,
    { withinMs: 90_000 },
  );
  return highest;
}

test.each([
  [
    'the OpenAPI document, 200 times on each of 40 connections',
    () => ({ path: '/api/v1/openapi.json', sockets: 40, requests: 200 }),
  ],
  [
    'a public image, 30 times on each of 100 connections',
    () => ({ path: picture, sockets: 100, requests: 30 }),
  ],
])('%s', async (_what, what) => {
  expect(await flood(what())).toBeLessThan(idle + MOST_ABOVE_IDLE);
  await eventually(
    async () => {
      expectSuccess(await call(service, `GET /media/${id}`, { headers: HEADERS }));
      return residentBytes();
    },
    (bytes) => bytes < idle + MOST_AFTERWARDS,
    { withinMs: BACK_WITHIN_MS },
  );
});
