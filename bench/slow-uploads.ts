// Benchmark of many slow uploads: how long other requests wait meanwhile, and how much memory they take.
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { assetRequests, cycle } from './cases.ts';
import { type Environment, openUploads, startService } from './environment.ts';
import { type Measured, run } from './load.ts';
import { median } from './pair.ts';
import type { Server } from './processes.ts';
import { type Row, round } from './rows.ts';

const MIB = 2 ** 20;
const UPLOADS = 200;
/** Each connection sends a chunk every 200 ms: 20 KB/s. A few connections send at a time. */
const CHUNK = Buffer.alloc(4 * 1024, 'mediary');
const CHUNK_EVERY_MS = 200;
const TICK_MS = 20;
const PER_TICK = (UPLOADS * TICK_MS) / CHUNK_EVERY_MS;
/** Larger than what arrives during a round. */
const LENGTH = 64 * MIB;
const GET_CONNECTIONS = 4;
const GET_SECONDS = 4;
const GROW_SECONDS = 6;
/** Until each upload has as many bytes in memory as it ever has. */
const FILL_SECONDS = 2;

type Sample = { readonly idle: Measured; readonly busy: Measured; readonly grownBytes: number };

/** GETs of other users without and with slow uploads, alternately. Uses a separate process for its memory. */
export async function slowUploads(environment: Environment, rounds: number): Promise<Row[]> {
  const { folder, databaseUrl, token, assetIds } = environment;
  const service = await startService(folder, databaseUrl);
  const next = cycle(assetRequests(assetIds, token));
  const get = () => run({ port: service.port, connections: GET_CONNECTIONS, seconds: GET_SECONDS, next });
  await get();
  const samples: Sample[] = [];
  for (let n = 0; n <= rounds; n++) samples.push(await measureRound(service, token, get));
  await service.stop();
  return [toRow(samples.slice(1))];
}

function toRow(samples: readonly Sample[]): Row {
  const p99 = (side: 'idle' | 'busy') => `${round(median(samples.map((sample) => sample[side].p99)))} ms`;
  const rate = (side: 'idle' | 'busy') => Math.round(median(samples.map((sample) => sample[side].perSecond)));
  const grown = Math.max(...samples.map(({ grownBytes }) => grownBytes)) / MIB;
  return [
    `p99 of GET during ${UPLOADS} uploads at 20 KB/s; growth of memory in ${GROW_SECONDS + GET_SECONDS} s`,
    'the same GET without uploads',
    `${round(median(samples.map(({ idle, busy }) => busy.p99 / idle.p99)))} × time; ${Math.round(grown)} MiB`,
    '≤ 1.5; ≤ 20 MiB',
    `p99 ${p99('busy')} to ${p99('idle')}, ${rate('busy')}/s to ${rate('idle')}/s`,
  ];
}

async function measureRound(service: Server, token: string, get: () => Promise<Measured>): Promise<Sample> {
  const opened = await openUploads(service, token, { count: UPLOADS });
  const idle = await get();
  const uploads = await startUploads(service, opened.slice(0, UPLOADS));
  await delay(FILL_SECONDS * 1000);
  const before = service.rssBytes();
  await delay(GROW_SECONDS * 1000);
  const busy = await get();
  const grownBytes = service.rssBytes() - before;
  await uploads.abort();
  return { idle, busy, grownBytes };
}

async function startUploads({ port }: Server, uploads: readonly { readonly path: string }[]) {
  const sockets = await Promise.all(uploads.map(({ path }) => startUpload(port, path)));
  let tick = 0;
  const timer = setInterval(() => {
    const first = (tick++ * PER_TICK) % UPLOADS;
    for (const socket of sockets.slice(first, first + PER_TICK)) socket.write(CHUNK);
  }, TICK_MS);
  return {
    abort: async () => {
      clearInterval(timer);
      const closed = Promise.all(sockets.map((socket) => once(socket, 'close')));
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

/** A service that ends an upload early fails the benchmark. */
async function startUpload(port: number, path: string): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1' });
  socket.on('data', (bytes) => {
    throw new Error(`a slow upload was answered: ${bytes.toString('utf8', 0, 300)}`);
  });
  await once(socket, 'connect');
  const head = [`PUT ${path} HTTP/1.1`, 'host: 127.0.0.1', 'content-type: video/mp4'];
  socket.write(`${head.join('\r\n')}\r\ncontent-length: ${LENGTH}\r\n\r\n`);
  return socket;
}
