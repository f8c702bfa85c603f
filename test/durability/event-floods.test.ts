// One user's event streams, unread or opened again and again, cost little memory and delay nobody else.
import { readFile, rm } from 'node:fs/promises';
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { expectSuccess } from '../support/http/envelope.ts';
import { readEvents } from '../support/service/event-streams.ts';
import { openUpload } from '../support/media.ts';
import { openCarelessSocket } from '../support/http/raw-socket.ts';
import { asUser, call, tokenOf } from '../support/service.ts';
import { newDatabaseDir } from '../support/service/data-folders.ts';
import { endAllIn, type ServiceProcess, startProcess } from '../support/service/service-process.ts';

const MIB = 1024 * 1024;
/** Each event carries the whole asset, so a replay of all of them is about 15 MB. */
const EVENTS = 1000;
const METADATA = { text: 'm'.repeat(15_000) };
const UNREAD_STREAMS = 100;
const MOST_MEMORY = 60 * MIB;
const RECONNECTING_STREAMS = 10;
const FLOOD_MS = 15_000;
/** What counts as idle at least, on a machine where other work makes single responses late. */
const IDLE_AT_LEAST_MS = 5;

let dataDir: string;
let service: ServiceProcess;
let start: string;
let idle: number;

beforeAll(async () => {
  dataDir = await newDatabaseDir();
  service = await startProcess({ DATA_DIR: dataDir, MEDIARY_ROLE: 'api' });
  await openUpload(service, 'bob');
  const { asset_id: id } = await openUpload(service, 'mallory', { metadata: METADATA });
  const stream = await readEvents(`${service.url}/events`, asUser('mallory'));
  const edit = (title: string) =>
    call(service, `PATCH /media/${id}`, { headers: asUser('mallory'), json: { title } });
  expectSuccess(await edit('first'));
  await stream.until((events) => events.length > 0);
  start = stream.lastId() ?? '';
  for (let number = 0; number < EVENTS; number += 1) expectSuccess(await edit(`${number}`));
  await stream.until((events) => events.length > EVENTS);
  stream.close();
  // The heap of a process grows with its first requests, and stays grown.
  await listFor(5000);
  idle = await listFor(5000);
}, 300_000);

afterAll(async () => {
  await service?.end('SIGKILL');
  await endAllIn(dataDir);
  await rm(dataDir, { recursive: true, force: true, maxRetries: 5 });
});

/** The median response time of another user's list, in ms. */
async function listFor(ms: number): Promise<number> {
  const times: number[] = [];
  for (const end = performance.now() + ms; performance.now() < end; ) {
    const sent = performance.now();
    expectSuccess(await call(service, 'GET /media', { headers: asUser('bob') }));
    times.push(performance.now() - sent);
  }
  return times.sort((a, b) => a - b)[Math.floor(times.length / 2)] ?? Number.NaN;
}

async function residentBytes(): Promise<number> {
  const status = await readFile(`/proc/${service.pid}/status`, 'utf8');
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) * 1024;
}

async function openStream(): Promise<Socket> {
  const socket = await openCarelessSocket(service.url);
  const path = `/api/v1/events?last_event_id=${start}`;
  socket.write(`GET ${path} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${tokenOf('mallory')}\r\n\r\n`);
  return socket;
}

async function highestDuring(work: Promise<unknown>): Promise<number> {
  let isOver = false;
  void work.finally(() => {
    isOver = true;
  });
  let highest = 0;
  while (!isOver) {
    highest = Math.max(highest, await residentBytes());
    await sleep(100);
  }
  return highest;
}

test('100 unread streams', async () => {
  const before = await residentBytes();
  const sockets: Socket[] = [];
  const flood = async () => {
    for (let opened = 0; opened < UNREAD_STREAMS; opened += 1) sockets.push((await openStream()).pause());
  };
  const listed = Promise.all([listFor(FLOOD_MS), flood()]);
  const highest = await highestDuring(listed);
  const [median] = await listed;
  for (const socket of sockets) socket.destroy();
  expect.soft(highest - before).toBeLessThanOrEqual(MOST_MEMORY);
  expect(median).toBeLessThanOrEqual(3 * Math.max(idle, IDLE_AT_LEAST_MS));
});

test('10 streams that are read, and opened again from the start', async () => {
  let isOver = false;
  let received = 0;
  const reconnect = async () => {
    while (!isOver) {
      const socket = await openStream();
      const opened = performance.now();
      for await (const chunk of socket) {
        received += (chunk as Buffer).length;
        if (isOver || performance.now() - opened > 1000) break;
      }
    }
  };
  const flood = Promise.all(Array.from({ length: RECONNECTING_STREAMS }, reconnect));
  const median = await listFor(FLOOD_MS);
  isOver = true;
  await flood;
  expect(median).toBeLessThanOrEqual(3 * Math.max(idle, IDLE_AT_LEAST_MS));
  expect(received).toBeGreaterThan(MIB);
});
