// An API process and two workers: one is killed while encoding, and the other finishes its work.
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { waitForEngineEnd } from '../../support/encoding/engines.ts';
import { makeClip, pacedEngine, NOT_COPYABLE } from '../../support/clips/clips.ts';
import {
  type AssetJson,
  complete,
  openUpload,
  putBytes,
  readAsset,
  settledWithoutFalling,
} from '../../support/media.ts';
import { CLEAN, decode } from '../../support/clips/picture-and-sound.ts';
import { type SharedData, startSharedData } from '../../support/postgres/shared-data.ts';
import { asOperator, asUser, call, eventually } from '../../support/service.ts';
import {
  endAllIn,
  type ServiceProcess,
  sharedBy,
  startProcess,
  workerOf,
} from '../../support/service/service-process.ts';
import {
  encodersOf,
  eventsOf,
  filesNaming,
  openJobs,
  processesNaming,
  rows,
} from '../../support/service/traces.ts';

let data: SharedData;
let api: ServiceProcess;
let workers: ServiceProcess[];

beforeAll(async () => {
  data = await startSharedData();
  const shared = sharedBy({ ...data, ffmpegPath: await pacedEngine() });
  api = await startProcess({ ...shared, MEDIARY_ROLE: 'api' });
  const worker = { ...workerOf(shared, api), HEALTH_PORT: '0' };
  workers = await Promise.all([startProcess(worker), startProcess(worker)]);
});

afterAll(async () => {
  await Promise.all([api, ...workers].map((process) => process.end('SIGKILL')));
  await endAllIn(data.dataDir);
  await data.remove();
});

/** The workers that run an engine for this asset. */
async function busyWorkers(id: string): Promise<ServiceProcess[]> {
  const encoders = await encodersOf(id);
  return workers.filter(({ pid }) => encoders.has(pid));
}

async function encoding(): Promise<AssetJson> {
  const started = await openUpload(api, 'ann');
  await putBytes(started, await readFile(await makeClip({ seconds: 12, more: NOT_COPYABLE })));
  expect((await complete(api, 'ann', started.asset_id)).status).toBe(200);
  return eventually(
    () => readAsset(api, 'ann', started.asset_id),
    ({ progress }) => progress > 0,
  );
}

/** As the operator sees them. */
const listWorkers = async (): Promise<readonly object[]> =>
  (await call<{ workers: object[] }>(api, `GET ${new URL(api.url).origin}/readyz`, { headers: asOperator }))
    .body.data.workers;

test('each worker answers health checks on HEALTH_PORT, and is listed by the API process', async () => {
  for (const { healthUrl } of workers) {
    const answers = await Promise.all(
      ['/healthz', '/readyz', '/api/v1/openapi.json'].map((path) => fetch(new URL(path, healthUrl))),
    );
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 404]);
    expect((await answers[1]?.json()) as object).toMatchObject({ data: { worker_count: 2 } });
  }
  expect(await listWorkers()).toEqual(
    workers.map(() => expect.objectContaining({ roles: ['worker'], providers: ['onprem'] })),
  );
});

test('another worker takes over from a killed one within a minute, and finishes the video once', async () => {
  const { id, progress } = await encoding();
  const [doomed, ...more] = await busyWorkers(id);
  expect(more).toEqual([]);
  const other = workers.find((worker) => worker !== doomed);
  await doomed?.end('SIGKILL');
  await waitForEngineEnd(id, { withinMs: 120_000 });
  expect(await readdir(join(data.dataDir, 'scratch'))).toHaveLength(1);

  expect(
    await eventually(
      () => busyWorkers(id),
      (encoders) => encoders.length > 0,
      { withinMs: 120_000 },
    ),
  ).toEqual([other]);

  const asset = await settledWithoutFalling(api, 'ann', { id, progress });
  expect(asset).toMatchObject({ stream_status: 'ready', progress: 100, failure: null, warnings: [] });
  await expectNothingLeft(id);
  // The second worker publishes its first segments too.
  const events = (await eventsOf(data.dataDir, id)).filter((type) => type !== 'asset.updated');
  expect(events.sort()).toEqual([
    'asset.created',
    'asset.playable',
    'asset.processing',
    'asset.ready',
    'asset.uploaded',
  ]);
  const { body } = await call<{ hls: string }>(api, `GET /media/${id}/playback`, { headers: asUser('ann') });
  expect(await decode(body.data.hls)).toEqual(CLEAN);
  // The killed worker is not listed any more.
  await eventually(listWorkers, ({ length }) => length === 1, { withinMs: 120_000 });
});

async function expectNothingLeft(id: string): Promise<void> {
  await eventually(
    () => openJobs(data.dataDir),
    (jobs) => jobs.length === 0,
  );
  const published = await filesNaming(join(data.dataDir, 'objects'), `renditions/${id}/`);
  expect(new Set(published.map((path) => path.slice(0, path.lastIndexOf('/')))).size).toBe(1);
  expect(await readdir(join(data.dataDir, 'scratch'))).toEqual([]);
  expect(await filesNaming(join(data.dataDir, 'objects', 'incoming'))).toEqual([]);
  expect(await processesNaming(id)).toEqual([]);
}

test('a delete through the API stops the encode in the worker', async () => {
  const { id } = await encoding();
  expect(await busyWorkers(id)).toHaveLength(1);
  expect((await call(api, `DELETE /media/${id}`, { headers: asUser('ann') })).status).toBe(200);
  await waitForEngineEnd(id, { withinMs: 6000 });
  await eventually(
    () => openJobs(data.dataDir),
    (jobs) => jobs.length === 0,
  );
  expect(await readdir(join(data.dataDir, 'scratch'))).toEqual([]);
});

/** Of its health checks, asked one after the other until the process is gone. */
async function statusesUntilGone(url: string): Promise<number[]> {
  const seen: number[] = [];
  for (;;) {
    const answer = await fetch(url).catch(() => undefined);
    if (!answer) return seen;
    seen.push(answer.status);
  }
}

test('a worker and an API process exit cleanly on SIGTERM, and are not ready meanwhile', async () => {
  const { id } = await encoding();
  const [busy] = await busyWorkers(id);
  await eventually(
    () => eventsOf(data.dataDir, id),
    (events) => events.includes('asset.playable'),
  );
  const statuses = statusesUntilGone(`${busy?.healthUrl}/readyz`);
  expect(await busy?.end('SIGTERM')).toEqual({ code: 0, signal: null });
  expect(await statuses).toContain(503);
  expect(await processesNaming(id)).toEqual([]);
  expect(await readdir(join(data.dataDir, 'scratch'))).toEqual([]);
  expect(await listWorkers()).toEqual([]);
  // The run was interrupted after its first segments were published, which is no crash.
  const runs = 'select encode_run, encode_interruptions from assets where id = $1';
  expect(await rows(data.dataDir, runs, [id])).toEqual([{ encode_run: 1, encode_interruptions: 1 }]);
  expect(await api.end('SIGTERM')).toEqual({ code: 0, signal: null });
});
