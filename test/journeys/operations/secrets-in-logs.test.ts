// Logs, job rows and error responses contain no credentials and no user text (contract B5, B7; security F3,
// F4).
import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createLogger } from '../../../service/src/platform/observability/logger.ts';
import { makeClip } from '../../support/clips/clips.ts';
import { complete, openUpload, putBytes, settled, VIDEO } from '../../support/media.ts';
import { request, sendRaw } from '../../support/http/raw-socket.ts';
import {
  asService,
  asUser,
  call,
  SECRETS,
  startTestService,
  type TestService,
  tokenOf,
} from '../../support/service.ts';
import { rows } from '../../support/service/traces.ts';
import { deliver, signatureOf } from '../../support/providers/webhooks.ts';

const URL_SECRET = 'planted-url-signing-secret-0123456789abcdef';
const WORDS = {
  filename: 'planted-filename.mp4',
  title: 'planted-title',
  tags: ['planted-tag'],
  metadata: { note: 'planted-metadata' },
};
const BAD_KEY = 'planted-key-that-opens-nothing';

const lines: string[] = [];
const refusals: string[] = [];
/** What must not be found, by what it is. */
const planted = new Map<string, string>([
  ...Object.entries(SECRETS),
  ['URL_SIGNING_SECRET', URL_SECRET],
  ["a user's token", tokenOf('ann')],
  ['a refused token', tokenOf('planted-user', { type: 'refresh' })],
  ['a refused key', BAD_KEY],
  ['the filename', WORDS.filename],
  ['the title', WORDS.title],
  ['a tag', 'planted-tag'],
  ['metadata', 'planted-metadata'],
]);

let service: TestService;
beforeAll(async () => {
  const log = createLogger('debug', {
    write: (line) => {
      lines.push(line);
    },
  });
  service = await startTestService({ URL_SIGNING_SECRET: URL_SECRET }, { log });
  await journey();
});
afterAll(() => service?.stop());

const ask = async (line: string, how: Parameters<typeof call>[2] = {}) => {
  const answer = await call<Record<string, string>>(service, line, how);
  if (answer.status !== 200) refusals.push(JSON.stringify(answer.body));
  return answer;
};

const ticketOf = (url: string) => new URL(url).searchParams.get('ticket') as string;

/** A video goes its whole way, and everything that can be refused is refused once. */
async function journey(): Promise<void> {
  const started = await openUpload(service, 'ann', { ...VIDEO, ...WORDS });
  const upload = started.upload_url as string;
  planted.set('an upload ticket', ticketOf(upload));
  await ask(`PUT ${upload}`, { headers: { 'content-type': 'text/html' }, body: 'bytes' });
  await putBytes(started, await readFile(await makeClip({ seconds: 1 })));
  await ask(`PUT ${upload}`, { body: 'bytes' });
  await complete(service, 'ann', started.asset_id);
  await settled(service, 'ann', started.asset_id);
  await download(started.asset_id);
  await playback(started.asset_id);
  await eventTicket();
  await refusedCredentials(started.asset_id, upload);
  await webhooks(started.asset_id);
  await faults(started.asset_id);
  await ask(`DELETE /media/${started.asset_id}`, { headers: asUser('ann') });
}

async function download(id: string): Promise<void> {
  const { url = '' } = (await ask(`GET /media/${id}/download-url`, { headers: asUser('ann') })).body.data;
  planted.set('a download ticket', ticketOf(url));
  expect((await fetch(url)).status).toBe(200);
  expect((await fetch(url, { headers: { range: 'bytes=99999999999-' } })).status).toBe(416);
}

async function eventTicket(): Promise<void> {
  const { url = '', ticket = '' } = (await ask('POST /events/ticket', { headers: asUser('ann') })).body.data;
  planted.set('an event ticket', ticket);
  const stream = new AbortController();
  expect((await fetch(url, { signal: stream.signal })).status).toBe(200);
  stream.abort();
  for (const path of [`/events?ticket=${ticket}x`, `/events?ticket=${ticket}&last_event_id=${ticket}`])
    await ask(`GET ${path}`);
  await ask(`GET /events?ticket=${ticket}`, { headers: { ...asUser('ann'), referer: url } });
}

async function playback(id: string): Promise<void> {
  const { hls = '' } = (await ask(`GET /media/${id}/playback`, { headers: asUser('ann') })).body.data;
  const token = /~([^/]+)/.exec(hls)?.[1] as string;
  planted.set('a playback token', token);
  expect((await fetch(hls)).status).toBe(200);
  expect((await fetch(`${service.url}/playback/${id}/hls.m3u8?token=${token}`)).status).toBe(200);
  for (const path of [
    `~${token}x/hls.m3u8`,
    `~${token}/nothing.mp4`,
    `hls.m3u8?token=${token}x`,
    `~${token}/%zz`,
  ])
    await ask(`GET /playback/${id}/${path}`);
  refusals.push(
    (await sendRaw(service.address, `GET /api/v1/playback/${id}/~${token}/ü HTTP/1.1\r\nHost: a\r\n\r\n`))
      .body,
  );
}

async function refusedCredentials(id: string, upload: string): Promise<void> {
  await ask(`GET /media/${id}`, { headers: { authorization: `Bearer ${planted.get('a refused token')}` } });
  await ask('GET /media', { headers: { 'x-service-key': BAD_KEY } });
  await ask(`GET /media/${id}`, { headers: { ...asUser('ann'), ...asService } });
  await ask(`PUT ${upload}x`, { body: 'bytes' });
  await ask(`GET /nowhere?ticket=${ticketOf(upload)}&token=${planted.get("a user's token")}`);
  refusals.push(
    (await sendRaw(service.address, request('FETCH /', [`X-Service-Key: ${SECRETS.SERVICE_API_KEY}`]))).body,
  );
}

async function webhooks(id: string): Promise<void> {
  for (const provider of ['cdnhost', 'edgehost', 'onprem'] as const) {
    const body = { asset_id: id, status: 'odd', uid: 'u', VideoGuid: 'g', VideoLibraryId: 1, Status: 99 };
    const good = signatureOf(provider, body);
    const bad = signatureOf(provider, { another: 'body' });
    for (const headers of [good, bad]) {
      await deliver(service, provider, { body, headers });
      const value = Object.values(headers)[0] as string;
      planted.set(
        `a signature of ${provider} (${headers === good ? 'good' : 'bad'})`,
        value.replace(/^.*sig1=/, ''),
      );
    }
  }
}

/** A statement that fails, a database that is away. */
async function faults(id: string): Promise<void> {
  const { all } = service.adapters.db;
  const hung = { client: { values: [SECRETS.SERVICE_API_KEY] }, config: { headers: asUser('ann') } };
  for (const error of [new Error('syntax error'), Object.assign(new Error('timeout expired'), hung)]) {
    Object.assign(service.adapters.db, { all: () => Promise.reject(error) });
    await ask(`GET /media/${id}`, { headers: asUser('ann') });
  }
  Object.assign(service.adapters.db, { all });
}

const found = (text: string): string[] =>
  [...planted].filter(([, secret]) => text.includes(secret)).map(([what]) => what);

describe('after requests with every kind of error', () => {
  test('logs, jobs and deliveries exist', () => {
    expect(planted.size).toBeGreaterThan(20);
    expect([...planted.values()].every((secret) => secret.length > 5)).toBe(true);
    expect(lines.length).toBeGreaterThan(40);
    expect(lines.join('')).toContain('request failed');
    expect(refusals.length).toBeGreaterThan(12);
  });

  test('no log line contains a secret, a token, a signature or user text', () => {
    for (const line of lines) expect(found(line), line.slice(0, 500)).toEqual([]);
  });

  test('no log line contains a request URL, which may contain a token', () => {
    for (const line of lines) expect(line).not.toMatch(/ticket=|token=|\/~[A-Za-z0-9_-]{20}|[Bb]earer /);
  });

  test('each log line is JSON with known members', () => {
    const known = new Set(lines.flatMap((line) => Object.keys(JSON.parse(line) as object)));
    const allowed = [
      'level',
      'time',
      'msg',
      'request_id',
      'method',
      'route',
      'status',
      'ms',
      'err',
      'migrations',
      'kind',
      'provider',
      'seconds',
      'heights',
      'asset_id',
      'attempt',
      'code',
      'ffmpeg_log',
      'error',
      'worker',
      'providers',
      'missing',
      'job',
      'result',
      'left_out',
      'trace_id',
      'span_id',
    ];
    expect([...known].filter((name) => !allowed.includes(name))).toEqual([]);
  });

  test('no error response repeats the input', () => {
    for (const refusal of refusals) expect(found(refusal), refusal).toEqual([]);
  });

  test('no job contains a secret', async () => {
    const jobs = await rows(service.dataDir, 'select j::text as text from pgboss.job j');
    expect(jobs.length).toBeGreaterThan(1);
    for (const { text } of jobs) expect(found(String(text)), String(text)).toEqual([]);
  });

  test('no recorded delivery contains a signature', async () => {
    const stored = await rows(service.dataDir, 'select headers::text as text from deliveries');
    expect(stored.length).toBeGreaterThan(2);
    for (const { text } of stored) expect(found(String(text)), String(text)).toEqual([]);
  });
});
