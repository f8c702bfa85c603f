// Benchmark of uploads: thousands of small files, and a large file with its throughput and memory.
import { request as httpRequest } from 'node:http';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { type Environment, openUploads, startService } from './environment.ts';
import { request } from './load.ts';
import { type Effort, measurePair, median } from './pair.ts';
import { type Server, startServer } from './processes.ts';
import { rowOfPair, type Row, round } from './rows.ts';

const MIB = 2 ** 20;
const SMALL = Buffer.alloc(20 * 1024, 'mediary');
const LARGE_MIB = 1024;
const CONNECTIONS = 16;
/** More uploads than the service can accept; each request needs an upload of its own. */
const MAX_PER_SECOND = 2000;

export async function uploads(environment: Environment, effort: Effort): Promise<Row[]> {
  const bare = await startServer(
    'bench/bare-store.ts',
    { FOLDER: join(environment.folder, 'bare-store') },
    '/ready',
  );
  const what = 'PUT of 20 KB, durable, 16 connections';
  const rows = [
    rowOfPair(
      { what, against: 'raw Node PUT server with the same fsyncs', goal: '≥ 0.7' },
      await measureSmall(environment, effort, { server: bare, path: '/durable' }),
    ),
    rowOfPair(
      { what, against: 'raw Node PUT server without fsync', goal: '≥ 0.2' },
      await measureSmall(environment, effort, { server: bare, path: '/fast' }),
    ),
    await measureLarge(environment, bare, effort.rounds),
  ];
  await bare.stop();
  return rows;
}

/** Requests for new uploads of 20 KB, each once. */
export async function smallUploads(
  service: Server,
  token: string,
  count: number,
): Promise<() => Buffer | undefined> {
  const opened = await openUploads(service, token, { count });
  return () => {
    const upload = opened.pop();
    return upload && request(`PUT ${upload.path}`, { 'content-type': 'video/mp4' }, SMALL);
  };
}

async function measureSmall(
  { service, token }: Environment,
  { rounds, seconds }: Effort,
  bare: { server: Server; path: string },
) {
  const next = await smallUploads(service, token, MAX_PER_SECOND * (1 + rounds * seconds));
  const reference = request(`PUT ${bare.path}`, {}, SMALL);
  return measurePair({
    rounds,
    seconds,
    connections: CONNECTIONS,
    ours: { server: service, next },
    reference: { server: bare.server, next: () => reference },
  });
}

/** Uses a separate process, so that its peak memory belongs to this upload. */
async function measureLarge(
  { folder, databaseUrl, token }: Environment,
  bare: Server,
  rounds: number,
): Promise<Row> {
  const service = await startService(folder, databaseUrl);
  const times: { ours: number; reference: number }[] = [];
  for (const { path } of (await openUploads(service, token, { count: rounds })).slice(0, rounds)) {
    times.push({ reference: await secondsToPut(bare, '/large'), ours: await secondsToPut(service, path) });
  }
  const peak = service.peakBytes() / MIB;
  await service.stop();
  const rate = (side: 'ours' | 'reference') =>
    Math.round(LARGE_MIB / median(times.map((time) => time[side])));
  return [
    `PUT of ${LARGE_MIB} MiB; peak memory of the service`,
    'raw Node stream to an fsynced file',
    `${round(median(times.map(({ ours, reference }) => reference / ours)))}; ${Math.round(peak)} MiB`,
    '≥ 0.85; < 200 MiB',
    `${rate('ours')} MiB/s to ${rate('reference')} MiB/s`,
  ];
}

async function secondsToPut({ port }: Server, path: string): Promise<number> {
  const chunk = Buffer.alloc(MIB, 'mediary');
  const start = performance.now();
  const sending = httpRequest({
    port,
    host: '127.0.0.1',
    method: 'PUT',
    path,
    headers: { 'content-type': 'video/mp4', 'content-length': LARGE_MIB * MIB },
  });
  const received = new Promise<number | undefined>((resolve, reject) => {
    sending
      .on('response', (response) => {
        response.resume();
        resolve(response.statusCode);
      })
      .on('error', reject);
  });
  await pipeline(Readable.from(Array.from({ length: LARGE_MIB }, () => chunk)), sending);
  const status = await received;
  if (status !== 200) throw new Error(`PUT returned ${status}`);
  return (performance.now() - start) / 1000;
}
