// An external encoder, as docs/guides/write-an-encoder.md describes it. It encodes nothing: each video gets
// the same real stream of two seconds at once.
import { createHash, timingSafeEqual } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { type LocalServer, startLocalServer } from './local-server.ts';

/** How the next job goes wrong. */
export type EncoderFault =
  | { readonly kind: 'crash' }
  | { readonly kind: 'fail'; readonly failure: EncodingFailure }
  | { readonly kind: 'fail_after_ready' };
export type EncodingFailure = {
  readonly code: string;
  readonly message: string;
  readonly retryable: boolean;
};

type EncoderJob = { readonly asset_id: string; readonly attempt: number; readonly callback_url: string };
type EncoderState = {
  readonly secret: string;
  /** Returns the fault of the next job once. */
  readonly takeFault: () => EncoderFault | undefined;
  /** Accepted jobs of this encoder, by asset and attempt. */
  readonly jobs: Set<string>;
  url: string;
};

const STREAM_FOLDER = join(import.meta.dirname, '../stream');
const STREAM_TYPES: Readonly<Record<string, string>> = {
  'master.m3u8': 'application/vnd.apple.mpegurl',
  'media_0.m3u8': 'application/vnd.apple.mpegurl',
  'manifest.mpd': 'application/dash+xml',
  'init.mp4': 'video/mp4',
  'segment-1.m4s': 'video/mp4',
  'poster.jpg': 'image/jpeg',
};
const RENDITION = { height: 90, width: 160, state: 'ready' };
const MAX_SENDS = 5;
const RESEND_MS = 200;

export async function startInstantEncoder(
  options: Pick<EncoderState, 'secret' | 'takeFault'>,
): Promise<LocalServer> {
  const state: EncoderState = { ...options, jobs: new Set(), url: '' };
  const server = await startLocalServer((request, response) => handle(state, request, response));
  state.url = server.url;
  return server;
}

async function handle(state: EncoderState, request: IncomingMessage, response: ServerResponse) {
  if (request.method === 'POST') return takeJob(state, request, response);
  const name = request.url?.split('/').at(-1) ?? '';
  const type = STREAM_TYPES[name];
  if (type === undefined) return void response.writeHead(404).end();
  // Players of other origins read it.
  response.writeHead(200, { 'content-type': type, 'access-control-allow-origin': '*' });
  response.end(request.method === 'HEAD' ? undefined : await readFile(join(STREAM_FOLDER, name)));
}

async function takeJob(state: EncoderState, request: IncomingMessage, response: ServerResponse) {
  const body = await buffer(request);
  const given = Buffer.from(String(request.headers['x-onprem-signature'] ?? ''));
  const expected = Buffer.from(sign(body, state.secret));
  if (given.length !== expected.length || !timingSafeEqual(given, expected))
    return void response.writeHead(401).end();
  const job = JSON.parse(body.toString()) as EncoderJob;
  const key = `${job.asset_id}-${job.attempt}`;
  if (state.jobs.has(key)) return void response.writeHead(409).end();
  state.jobs.add(key);
  response.writeHead(202).end();
  await encode(state, job, key);
}

async function encode(state: EncoderState, job: EncoderJob, key: string): Promise<void> {
  const fault = state.takeFault();
  await report(state, job, { status: 'processing', progress: 0 });
  if (fault?.kind === 'crash') {
    // The next process of the encoder does not know the job of this one.
    state.jobs.delete(key);
    return;
  }
  if (fault?.kind === 'fail') return report(state, job, { status: 'failed', failure: fault.failure });
  const base = `${state.url}/stream/${key}`;
  const playback = {
    hls: `${base}/master.m3u8`,
    dash: `${base}/manifest.mpd`,
    thumbnail: `${base}/poster.jpg`,
  };
  await report(state, job, { status: 'ready', playback, renditions: [RENDITION] });
  if (fault?.kind === 'fail_after_ready')
    await report(state, job, { status: 'failed', failure: DEFAULT_FAILURE });
}

export const DEFAULT_FAILURE: EncodingFailure = {
  code: 'encode_failed',
  message: 'The encoder failed, because a test asked for it.',
  retryable: true,
};

const sign = (body: Buffer, secret: string): string =>
  createHash('sha256').update(body).update(secret).digest('hex');

/** Sends the same bytes again while the service is not available. */
async function report({ secret }: EncoderState, job: EncoderJob, content: object): Promise<void> {
  const { asset_id, attempt, callback_url: url } = job;
  const body = JSON.stringify({ asset_id, attempt, ...content });
  const headers = { 'x-onprem-signature': sign(Buffer.from(body), secret) };
  for (let sends = 1; sends <= MAX_SENDS; sends++) {
    const response = await fetch(url, { method: 'POST', body, headers }).catch(() => undefined);
    await response?.body?.cancel();
    if (response && response.status < 500) return;
    await delay(RESEND_MS);
  }
}
