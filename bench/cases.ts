// The benchmark cases; each measures the service and its reference in one run.
import { spawn } from 'node:child_process';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { toSecret } from '../service/src/auth/secret.ts';
import { signOnprem } from '../service/src/providers/onprem/onprem-signature.ts';
import { type Environment, ONPREM_SECRET, startService } from './environment.ts';
import { request } from './load.ts';
import { type Effort, measurePair, type Ratios } from './pair.ts';
import { freePort } from '../test/support/http/free-port.ts';

const JSON_TYPE = { 'content-type': 'application/json' };

/** Requests of a load in an endless cycle. */
export const cycle =
  (requests: readonly Buffer[]) =>
  (n: number): Buffer =>
    requests[n % requests.length] as Buffer;

export const bearerOf = (token: string) => ({ authorization: `Bearer ${token}` });

export const assetRequests = (assetIds: readonly string[], token: string): Buffer[] =>
  assetIds.map((id) => request(`GET /api/v1/media/${id}`, bearerOf(token)));

/** GET of one asset with a bearer token, compared with a plain select of the same columns. */
export function getAsset({ service, bare, token, assetIds }: Environment, effort: Effort): Promise<Ratios> {
  return measurePair({
    ...effort,
    connections: 64,
    ours: { server: service, next: cycle(assetRequests(assetIds, token)) },
    reference: { server: bare, next: cycle(assetIds.map((id) => request(`GET /media/${id}`))) },
  });
}

/** Signed reports that change the state, each asset in turn, attempt after attempt. */
export function reportRequests(assetIds: readonly string[]): () => Buffer {
  const key = toSecret(ONPREM_SECRET);
  let count = 0;
  return () => {
    const k = count++;
    const body = JSON.stringify({
      asset_id: assetIds[k % assetIds.length],
      status: k % 2 ? 'ready' : 'processing',
      attempt: 2 + Math.floor(k / assetIds.length),
    });
    const signature = signOnprem(Buffer.from(body), key);
    return request(
      'POST /api/v1/webhooks/stream/onprem',
      { ...JSON_TYPE, 'x-onprem-signature': signature },
      body,
    );
  };
}

/**
 * A signed report that changes the state (writes asset, event and delivery), compared with a one-row UPDATE.
 */
export function webhook({ service, bare, assetIds }: Environment, effort: Effort): Promise<Ratios> {
  const update = (n: number) =>
    request(
      'POST /update',
      JSON_TYPE,
      JSON.stringify({ id: assetIds[n % assetIds.length], status: n % 2 ? 'ready' : 'processing' }),
    );
  return measurePair({
    ...effort,
    connections: 32,
    ours: { server: service, next: reportRequests(assetIds) },
    reference: { server: bare, next: update },
  });
}

const CLIP = {
  filename: 'clip.mp4',
  content_type: 'video',
  mime_type: 'video/mp4',
  size_bytes: 1000,
};
const NEW_UPLOAD = JSON.stringify(CLIP);

export const uploadUrlRequest = (token: string): Buffer =>
  request('POST /api/v1/media/upload-url', { ...bearerOf(token), ...JSON_TYPE }, NEW_UPLOAD);

/** A new asset with its event, compared with a one-row INSERT. */
export function openUpload({ service, bare, token }: Environment, effort: Effort): Promise<Ratios> {
  return measurePair({
    ...effort,
    connections: 32,
    ours: { server: service, next: cycle([uploadUrlRequest(token)]) },
    reference: { server: bare, next: cycle([request('POST /insert', JSON_TYPE, NEW_UPLOAD)]) },
  });
}

/**
 * Upload targets at an S3 store, compared with those at the service. The store is not asked. Both processes
 * are new: the environment's service has been optimised by the cases before.
 */
export async function openPresigned(environment: Environment, effort: Effort): Promise<Ratios> {
  const { folder, databaseUrl, token } = environment;
  const plain = await startService(folder, databaseUrl);
  const signing = await startService(folder, databaseUrl, {
    STORAGE_URL: 's3://bench?endpoint=http://127.0.0.1:9',
    AWS_ACCESS_KEY_ID: 'bench',
    AWS_SECRET_ACCESS_KEY: 'bench-secret-access-key',
  });
  const upload = JSON.stringify({ ...CLIP, size_bytes: 20_480 });
  const headers = { ...bearerOf(token), ...JSON_TYPE };
  const next = cycle([request('POST /api/v1/media/upload-url', headers, upload)]);
  const ratios = await measurePair({
    ...effort,
    connections: 32,
    ours: { server: signing, next },
    reference: { server: plain, next },
  });
  await Promise.all([signing.stop(), plain.stop()]);
  return ratios;
}

/** Seconds from process start to the first response, with an existing data folder. */
export async function measureStart(rounds: number): Promise<number[]> {
  const folder = await mkdtemp(join(tmpdir(), 'mediary-bench-start-'));
  await chmod(folder, 0o755);
  const times: number[] = [];
  for (let round = 0; round <= rounds; round++) times.push(await startOnce(folder));
  await rm(folder, { recursive: true, force: true });
  return times.slice(1);
}

async function startOnce(folder: string): Promise<number> {
  const port = await freePort();
  const start = performance.now();
  const child = spawn(process.execPath, [join(import.meta.dirname, '../service/start.js')], {
    env: { PATH: process.env['PATH'], DATA_DIR: folder, PORT: String(port), LOG_LEVEL: 'silent' },
    stdio: 'ignore',
  });
  const exited = new Promise((resolve) => {
    child.once('exit', resolve);
  });
  while (
    !(await fetch(`http://127.0.0.1:${port}/readyz`).then(
      ({ ok }) => ok,
      () => false,
    ))
  )
    await new Promise((resolve) => {
      setTimeout(resolve, 5);
    });
  const seconds = (performance.now() - start) / 1000;
  child.kill('SIGTERM');
  await exited;
  return seconds;
}
