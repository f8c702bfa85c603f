// An operator's encoder as a server on loopback: takes signed jobs, encodes them to HLS with ffmpeg, serves
// the result and reports it. A test can let it misbehave.
import { spawn } from 'node:child_process';
import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { setTimeout } from 'node:timers/promises';
import { ffmpegPath } from '../clips/clips.ts';

/** The body of a job. */
type EncoderOrder = {
  readonly asset_id: string;
  readonly attempt: number;
  readonly mime_type: string;
  readonly size_bytes: number | null;
  readonly checksum_sha256: string | null;
  readonly duration_ms: number | null;
  readonly source_url: string;
  readonly callback_url: string;
  readonly deadline: string;
  readonly heartbeat_s: number;
};

/** What a faulty encoder does differently. */
type Faults = {
  /** The response to every job. */
  readonly response?: {
    readonly status: number;
    readonly headers?: Record<string, string>;
    readonly body?: string;
  };
  /** The status of the response to every cancellation. */
  readonly cancelStatus?: number;
  /** Responds to jobs only then. */
  readonly respondAfter?: Promise<void>;
  /** Accepts jobs and never reports. */
  readonly isSilent?: boolean;
  /** Accepts jobs with any signature. */
  readonly isGullible?: boolean;
  /** Changes a report before it is signed; undefined: not sent. */
  readonly report?: (report: Report) => Report | undefined;
  /** Signs reports with another secret. */
  readonly secret?: string;
};

type Report = Readonly<Record<string, unknown>> & { readonly status: string };
type Job = { readonly order: EncoderOrder; readonly ending: AbortController; readonly folder: string };

export type ReferenceEncoder = {
  readonly url: string;
  /** Accepted jobs, in their order; a repeated request adds none. */
  readonly orders: readonly EncoderOrder[];
  /** Requests for jobs with a valid signature. */
  readonly requests: () => number;
  /** Requests to cancel a job. */
  readonly cancellations: () => number;
  readonly cancelled: readonly string[];
  misbehave(faults: Faults): void;
  stop(): Promise<void>;
};

const MAX_AGE_S = 300;
const MAX_TRIES = 5;
const RETRY_MS = 200;

export async function startReferenceEncoder(secret: string): Promise<ReferenceEncoder> {
  const state = createState(secret, await mkdtemp(join(tmpdir(), 'mediary-encoder-')));
  const server = createServer((request, response) => {
    handle(state, request, response).catch(() => response.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  state.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url: state.url,
    orders: state.orders,
    requests: () => state.requests,
    cancellations: () => state.cancellations,
    cancelled: state.cancelled,
    misbehave: (faults) => {
      state.faults = faults;
    },
    stop: async () => {
      for (const { ending } of state.jobs.values()) ending.abort();
      await Promise.all(state.working);
      server.closeAllConnections();
      server.close();
      await rm(state.root, { recursive: true, force: true });
    },
  };
}

const createState = (secret: string, root: string) => ({
  secret,
  root,
  url: '',
  faults: {} as Faults,
  requests: 0,
  cancellations: 0,
  jobs: new Map<string, Job>(),
  orders: [] as EncoderOrder[],
  cancelled: [] as string[],
  working: new Set<Promise<void>>(),
});
type Encoder = ReturnType<typeof createState>;

async function handle(state: Encoder, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const path = request.url ?? '';
  const body = await buffer(request);
  if (request.method === 'GET') return serve(state, path, response);
  if (request.method === 'HEAD') return void response.writeHead(405).end();
  if (!state.faults.isGullible && !isSigned(request.headers, body, state.secret))
    return void response.writeHead(401).end();
  return request.method === 'DELETE'
    ? cancel(state, path.replace('/jobs/', ''), response)
    : takeJob(state, body, response);
}

async function serve({ jobs }: Encoder, path: string, response: ServerResponse): Promise<void> {
  const [, key = '', name = ''] = /^\/out\/([\w-]+)\/([\w.]+)$/.exec(path) ?? [];
  const folder = jobs.get(key)?.folder;
  if (folder === undefined) return void response.writeHead(404).end();
  response.end(await readFile(join(folder, name)));
}

function cancel(state: Encoder, key: string, response: ServerResponse): void {
  const { jobs, cancelled, faults } = state;
  state.cancellations += 1;
  if (faults.cancelStatus !== undefined) return void response.writeHead(faults.cancelStatus).end();
  const job = jobs.get(key);
  if (!job) return void response.writeHead(404).end();
  jobs.delete(key);
  cancelled.push(key);
  job.ending.abort();
  response.writeHead(204).end();
}

async function takeJob(state: Encoder, body: Buffer, response: ServerResponse): Promise<void> {
  const { jobs, faults, orders, root } = state;
  state.requests += 1;
  const { status, headers, body: text } = faults.response ?? {};
  if (status !== undefined) return void response.writeHead(status, headers).end(text);
  const order = JSON.parse(body.toString()) as EncoderOrder;
  const key = `${order.asset_id}-${order.attempt}`;
  const location = { location: `/jobs/${key}` };
  if (jobs.has(key)) return void response.writeHead(409, location).end();
  const job = { order, folder: await mkdtemp(join(root, 'job-')), ending: new AbortController() };
  jobs.set(key, job);
  orders.push(order);
  await faults.respondAfter;
  response.writeHead(202, location).end();
  if (!faults.isSilent) track(state, work(state, job, key));
}

/** A cancelled job, or one at the end of the encoder, ends early. */
function track({ working }: Encoder, work: Promise<void>): void {
  const done = work
    .catch((error: Error) => {
      if (error.name !== 'AbortError') throw error;
    })
    .finally(() => working.delete(done));
  working.add(done);
}

async function work(state: Encoder, job: Job, key: string): Promise<void> {
  const { order, folder, ending } = job;
  const { signal } = ending;
  const beats = setInterval(
    () => track(state, send(state, job, { status: 'processing' })),
    order.heartbeat_s * 300,
  );
  try {
    await send(state, job, { status: 'processing', progress: 0 });
    const source = join(folder, 'source');
    await writeFile(source, await download(order.source_url, signal));
    const isEncoded = await encode(source, folder, signal);
    clearInterval(beats);
    const playback = { hls: `${state.url}/out/${key}/index.m3u8` };
    await send(state, job, isEncoded ? { status: 'ready', playback } : NOT_MEDIA);
  } finally {
    clearInterval(beats);
  }
}

const NOT_MEDIA: Report = {
  status: 'failed',
  failure: { code: 'not_media', message: 'No video', retryable: false },
};

async function send({ faults, secret }: Encoder, { order, ending }: Job, report: Report): Promise<void> {
  const full = { asset_id: order.asset_id, attempt: order.attempt, ...report };
  const changed = faults.report ? faults.report(full) : full;
  if (!changed) return;
  const body = JSON.stringify(changed);
  const headers = { 'x-onprem-signature': digest(Buffer.from(body), faults.secret ?? secret) };
  for (let tries = 1; ; tries++) {
    const response = await fetch(order.callback_url, {
      method: 'POST',
      body,
      headers,
      signal: ending.signal,
    });
    if (response.status < 500 || tries === MAX_TRIES) return;
    await setTimeout(RETRY_MS, undefined, { signal: ending.signal });
  }
}

const digest = (body: Buffer, secret: string): string =>
  createHash('sha256').update(body).update(secret).digest('hex');

/** Both forms must be right, and the time recent. */
function isSigned(headers: IncomingMessage['headers'], body: Buffer, secret: string): boolean {
  const text = (name: string) => String(headers[name] ?? '');
  const [id, at] = [text('webhook-id'), text('webhook-timestamp')];
  const mac = createHmac('sha256', secret).update(`${id}.${at}.`).update(body).digest('base64');
  const isRecent = Math.abs(Date.now() / 1000 - Number(at)) < MAX_AGE_S;
  return (
    isRecent &&
    isEqual(text('x-onprem-signature'), digest(body, secret)) &&
    isEqual(text('webhook-signature'), `v1,${mac}`)
  );
}

const isEqual = (given: string, expected: string): boolean =>
  given.length === expected.length && timingSafeEqual(Buffer.from(given), Buffer.from(expected));

async function download(url: string, signal: AbortSignal): Promise<Buffer> {
  const response = await fetch(url, { signal });
  if (!response.ok) throw new Error(`the source responds with ${response.status}`);
  return Buffer.from(await response.arrayBuffer());
}

/** False when ffmpeg finds no video in the file. */
async function encode(source: string, folder: string, signal: AbortSignal): Promise<boolean> {
  const output = ['-f', 'hls', '-hls_time', '4', '-hls_list_size', '0', join(folder, 'index.m3u8')];
  const arguments_ = ['-v', 'error', '-i', source, '-map', '0:v:0', '-map', '0:a:0?', '-c:v', 'libx264'];
  const engine = spawn(ffmpegPath(), [...arguments_, '-preset', 'ultrafast', ...output], {
    stdio: 'ignore',
    signal,
    killSignal: 'SIGKILL',
  });
  const [code] = (await once(engine, 'close')) as [number | null];
  return code === 0;
}
