// Benchmarks of uploads: thousands of small files, and large files with their throughput and memory.
import { Agent, type IncomingMessage, request as httpRequest } from 'node:http';
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
const CHUNK_MIB = 5;
const CONNECTIONS = [16, 64];
/** More uploads than the service can accept; each request needs an upload of its own. */
const MAX_PER_SECOND = 2000;

export async function uploads(environment: Environment, effort: Effort): Promise<Row[]> {
  const bare = await startBareStore(environment);
  const rows: Row[] = [];
  for (const { path, against, goal } of SMALL_REFERENCES)
    for (const connections of CONNECTIONS)
      rows.push(
        rowOfPair(
          { what: `PUT of 20 KB, durable, ${connections} connections`, against, goal },
          await measureSmall({ ...environment, connections }, effort, { server: bare, path }),
        ),
      );
  await bare.stop();
  return rows;
}

const SMALL_REFERENCES = [
  { path: '/recorded', against: 'raw Node PUT server with the same syncs: file, folder, row', goal: '≥ 0.5' },
  { path: '/durable', against: 'raw Node PUT server that syncs only file and folder', goal: '' },
  { path: '/fast', against: 'raw Node PUT server without fsync', goal: '≥ 0.2' },
] as const;

const startBareStore = ({ folder, databaseUrl }: Environment): Promise<Server> =>
  startServer(
    'bench/bare-store.ts',
    { FOLDER: join(folder, 'bare-store'), DATABASE_URL: databaseUrl },
    '/ready',
  );

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
  { service, token, connections }: Environment & { readonly connections: number },
  { rounds, seconds }: Effort,
  bare: { server: Server; path: string },
) {
  const next = await smallUploads(service, token, MAX_PER_SECOND * (1 + rounds * seconds));
  const reference = request(`PUT ${bare.path}`, {}, SMALL);
  return measurePair({
    rounds,
    seconds,
    connections,
    ours: { server: service, next },
    reference: { server: bare.server, next: () => reference },
  });
}

/** Uses a separate process, so that its peak memory belongs to these uploads. */
export async function largeUploads(environment: Environment, rounds: number): Promise<Row[]> {
  const { folder, databaseUrl, token } = environment;
  const bare = await startBareStore(environment);
  const service = await startService(folder, databaseUrl);
  const opened = await openUploads(service, token, { count: 3 * rounds });
  const next = () => opened.pop()?.path ?? '';
  const times: Record<LargeUpload, number>[] = [];
  let peak = 0;
  for (let round = 0; round < rounds; round++) {
    const reference = await secondsToPut(bare, '/large');
    const put = await secondsToPut(service, next());
    if (round === 0) peak = service.peakBytes() / MIB;
    const whole = await secondsOfTus(service, next(), LARGE_MIB);
    times.push({ reference, put, whole, chunks: await secondsOfTus(service, next(), CHUNK_MIB) });
  }
  await Promise.all([service.stop(), bare.stop()]);
  const row = (side: LargeUpload, names: { what: string; goal: string; note?: string }): Row => [
    names.what,
    'raw Node stream to an fsynced file',
    `${round(median(times.map((time) => time.reference / time[side])))}${names.note ?? ''}`,
    names.goal,
    `${rateOf(times, side)} MiB/s to ${rateOf(times, 'reference')} MiB/s`,
  ];
  return [
    row('put', {
      what: `PUT of ${LARGE_MIB} MiB; peak memory of the service`,
      goal: '≥ 0.85; < 200 MiB',
      note: `; ${Math.round(peak)} MiB`,
    }),
    row('whole', { what: `tus of ${LARGE_MIB} MiB in one PATCH`, goal: '≥ 0.8' }),
    row('chunks', { what: `tus of ${LARGE_MIB} MiB in PATCHes of ${CHUNK_MIB} MiB`, goal: '≥ 0.8' }),
  ];
}

/** `whole`: a resumable upload in one request; `chunks`: in many. */
type LargeUpload = 'reference' | 'put' | 'whole' | 'chunks';

const rateOf = (times: readonly Record<LargeUpload, number>[], side: LargeUpload): number =>
  Math.round(LARGE_MIB / median(times.map((time) => time[side])));

async function secondsToPut(server: Server, path: string): Promise<number> {
  const start = performance.now();
  const { statusCode } = await send(server, `PUT ${path}`, { headers: { 'content-type': 'video/mp4' } });
  if (statusCode !== 200) throw new Error(`PUT returned ${statusCode}`);
  return (performance.now() - start) / 1000;
}

const TUS = { 'tus-resumable': '1.0.0' };

/** `path`: of the PUT of the same upload. */
async function secondsOfTus(server: Server, path: string, chunkMib: number): Promise<number> {
  const start = performance.now();
  const length = { 'upload-length': LARGE_MIB * MIB };
  const created = await send(server, `POST ${path.replace('?', '/tus?')}`, {
    headers: { ...TUS, ...length },
    mebibytes: 0,
  });
  const [folder] = path.split('?');
  for (let sent = 0; sent < LARGE_MIB; sent += chunkMib) {
    const chunk = Math.min(chunkMib, LARGE_MIB - sent);
    const headers = {
      ...TUS,
      'content-type': 'application/offset+octet-stream',
      'upload-offset': sent * MIB,
    };
    const { statusCode } = await send(server, `PATCH ${folder}/${created.headers.location}`, {
      headers,
      mebibytes: chunk,
    });
    if (statusCode !== 204) throw new Error(`PATCH returned ${statusCode}`);
  }
  return (performance.now() - start) / 1000;
}

type Body = {
  readonly headers: Readonly<Record<string, string | number>>;
  readonly mebibytes?: number;
};

const AGENT = new Agent({ keepAlive: true });
const BLOCK = Buffer.alloc(MIB, 'mediary');

async function send(
  { port }: Server,
  call: string,
  { headers, mebibytes = LARGE_MIB }: Body,
): Promise<IncomingMessage> {
  const [method, path] = call.split(' ');
  const sending = httpRequest({
    port,
    host: '127.0.0.1',
    agent: AGENT,
    method,
    path,
    headers: { ...headers, 'content-length': mebibytes * MIB },
  });
  const received = new Promise<IncomingMessage>((resolve, reject) => {
    sending.on('response', (response) => resolve(response.resume())).on('error', reject);
  });
  await pipeline(Readable.from(Array.from({ length: mebibytes }, () => BLOCK)), sending);
  return received;
}
