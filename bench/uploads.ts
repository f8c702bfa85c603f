// Benchmark of uploads: thousands of small files, and a large file with its throughput and memory.
import { request as httpRequest } from 'node:http';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { type Ground, openUploads, startService } from './ground.ts';
import { request } from './load.ts';
import { type Effort, measurePair, median } from './pair.ts';
import { type Server, startServer } from './processes.ts';
import { ofPair, type Row, round } from './rows.ts';

const MIB = 2 ** 20;
const SMALL = Buffer.alloc(20 * 1024, 'mediary');
const LARGE_MIB = 1024;
const CONNECTIONS = 16;
/** More than the service accepts per second. */
const MOST_PER_SECOND = 2000;

export async function uploads(ground: Ground, effort: Effort): Promise<Row[]> {
  const bare = await startServer(
    'bench/bare-store.ts',
    { FOLDER: join(ground.folder, 'bare-store') },
    '/ready',
  );
  const what = 'PUT of 20 KB, durable, 16 connections';
  const rows = [
    ofPair(
      { what, against: 'raw Node PUT server with the same fsyncs', goal: '≥ 0.7' },
      await small(ground, effort, { server: bare, path: '/durable' }),
    ),
    ofPair(
      { what, against: 'raw Node PUT server without fsync', goal: '≥ 0.2' },
      await small(ground, effort, { server: bare, path: '/fast' }),
    ),
    await large(ground, bare, effort.rounds),
  ];
  await bare.stop();
  return rows;
}

async function small(
  { service, token }: Ground,
  { rounds, seconds }: Effort,
  bare: { server: Server; path: string },
) {
  const opened = await openUploads(service, token, { count: MOST_PER_SECOND * (1 + rounds * seconds) });
  const next = () => {
    const upload = opened.pop();
    return upload && request(`PUT ${upload.path}`, { 'content-type': 'video/mp4' }, SMALL);
  };
  const limit = request(`PUT ${bare.path}`, {}, SMALL);
  return measurePair({
    rounds,
    seconds,
    connections: CONNECTIONS,
    ours: { server: service, next },
    limit: { server: bare.server, next: () => limit },
  });
}

/** Uses a separate process, so that its peak memory belongs to this upload. */
async function large({ folder, databaseUrl, token }: Ground, bare: Server, rounds: number): Promise<Row> {
  const service = await startService(folder, databaseUrl);
  const times: { ours: number; limit: number }[] = [];
  for (const { path } of (await openUploads(service, token, { count: rounds })).slice(0, rounds)) {
    times.push({ limit: await secondsToPut(bare, '/large'), ours: await secondsToPut(service, path) });
  }
  const peak = service.peakBytes() / MIB;
  await service.stop();
  const rate = (side: 'ours' | 'limit') => Math.round(LARGE_MIB / median(times.map((time) => time[side])));
  return [
    `PUT of ${LARGE_MIB} MiB; peak memory of the service`,
    'raw Node stream to an fsynced file',
    `${round(median(times.map(({ ours, limit }) => limit / ours)))}; ${Math.round(peak)} MiB`,
    '≥ 0.85; < 200 MiB',
    `${rate('ours')} MiB/s to ${rate('limit')} MiB/s`,
  ];
}

async function secondsToPut({ port }: Server, path: string): Promise<number> {
  const chunk = Buffer.alloc(MIB, 'mediary');
  const begun = performance.now();
  const sending = httpRequest({
    port,
    host: '127.0.0.1',
    method: 'PUT',
    path,
    headers: { 'content-type': 'video/mp4', 'content-length': LARGE_MIB * MIB },
  });
  const answered = new Promise<number | undefined>((resolve, reject) => {
    sending
      .on('response', (answer) => {
        answer.resume();
        resolve(answer.statusCode);
      })
      .on('error', reject);
  });
  await pipeline(Readable.from(Array.from({ length: LARGE_MIB }, () => chunk)), sending);
  const status = await answered;
  if (status !== 200) throw new Error(`PUT was answered ${status}`);
  return (performance.now() - begun) / 1000;
}
