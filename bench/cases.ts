// The benchmark cases; each measures the service and its reference in one run.
import { spawn } from 'node:child_process';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { toSecret } from '../service/src/auth/secret.ts';
import { signOnprem } from '../service/src/providers/onprem/onprem-signature.ts';
import { type Environment, ONPREM_SECRET } from './environment.ts';
import { request } from './load.ts';
import { type Effort, measurePair, type Ratios } from './pair.ts';
import { freePort } from '../test/support/free-port.ts';

/** GET of one asset with a bearer token, compared with a plain select of the same columns. */
export function getAsset({ service, bare, token, assetIds }: Environment, effort: Effort): Promise<Ratios> {
  const requestsTo = (path: string, headers = {}) =>
    assetIds.map((id) => request(`GET ${path}/${id}`, headers));
  const ours = requestsTo('/api/v1/media', { authorization: `Bearer ${token}` });
  const reference = requestsTo('/media');
  return measurePair({
    ...effort,
    connections: 64,
    ours: { server: service, next: (n) => ours[n % ours.length] as Buffer },
    reference: { server: bare, next: (n) => reference[n % reference.length] as Buffer },
  });
}

/**
 * A signed report that changes the state (writes asset, event and delivery), compared with a one-row UPDATE.
 */
export function webhook({ service, bare, assetIds }: Environment, effort: Effort): Promise<Ratios> {
  const key = toSecret(ONPREM_SECRET);
  let count = 0;
  const report = () => {
    const k = count++;
    const body = JSON.stringify({
      asset_id: assetIds[k % assetIds.length],
      status: k % 2 ? 'ready' : 'processing',
      attempt: 2 + Math.floor(k / assetIds.length),
    });
    return request(
      'POST /api/v1/webhooks/stream/onprem',
      { 'content-type': 'application/json', 'x-onprem-signature': signOnprem(Buffer.from(body), key) },
      body,
    );
  };
  const update = (n: number) =>
    request(
      'POST /update',
      { 'content-type': 'application/json' },
      JSON.stringify({ id: assetIds[n % assetIds.length], status: n % 2 ? 'ready' : 'processing' }),
    );
  return measurePair({
    ...effort,
    connections: 32,
    ours: { server: service, next: report },
    reference: { server: bare, next: update },
  });
}

/** A new asset with its event, compared with a one-row INSERT. */
export function openUpload({ service, bare, token }: Environment, effort: Effort): Promise<Ratios> {
  const body = JSON.stringify({
    filename: 'clip.mp4',
    content_type: 'video',
    mime_type: 'video/mp4',
    size_bytes: 1000,
  });
  const ours = request(
    'POST /api/v1/media/upload-url',
    { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body,
  );
  const reference = request('POST /insert', { 'content-type': 'application/json' }, body);
  return measurePair({
    ...effort,
    connections: 32,
    ours: { server: service, next: () => ours },
    reference: { server: bare, next: () => reference },
  });
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
