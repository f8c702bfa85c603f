// Ten workers are killed while they encode the same videos: each video becomes ready once, and no files
// remain.
import { readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '@mediary/embedded-postgres/launcher';
import { makeClip, pacedEngine, NOT_COPYABLE } from '../support/clips/clips.ts';
import { complete, openUpload, putBytes, readAsset, settled } from '../support/media.ts';
import { CLEAN, decode } from '../support/clips/picture-and-sound.ts';
import { asUser, call, eventually } from '../support/service.ts';
import { newDataDir, newDatabaseDir } from '../support/service/data-folders.ts';
import {
  endAllIn,
  type ServiceProcess,
  sharedBy,
  startProcess,
  workerOf,
} from '../support/service/service-process.ts';
import { eventsOf, filesNaming, openJobs, processesNaming, rows } from '../support/service/traces.ts';

/** A worker takes one video at a time, so as many die in a round as there are videos. */
const ROUNDS = 2;
const VIDEOS = 5;

let databaseDir: string;
let dataDir: string;
let postgres: EmbeddedPostgres;
let api: ServiceProcess;
let workerSettings: Record<string, string | undefined>;
let workers: ServiceProcess[] = [];
let ids: string[] = [];
let killed = 0;
/** From the moment at which new workers are ready to the one at which they encode every video. */
const takeovers: number[] = [];

beforeAll(async () => {
  [databaseDir, dataDir] = [await newDatabaseDir(), await newDataDir()];
  postgres = await startEmbeddedPostgres(databaseDir);
  const shared = sharedBy({ postgres, dataDir, ffmpegPath: await pacedEngine() });
  api = await startProcess({ ...shared, MEDIARY_ROLE: 'api' });
  workerSettings = workerOf(shared, api);
  const film = await readFile(await makeClip({ seconds: 24, width: 160, height: 90, more: NOT_COPYABLE }));
  ids = await Promise.all(Array.from({ length: VIDEOS }, () => uploaded(film)));
  workers = await startWorkers();
  for (let round = 0; round < ROUNDS; round++) await killAllAtWork();
  await Promise.all(ids.map((id) => settled(api, 'ann', id)));
  await eventually(
    () => openJobs(databaseDir),
    (jobs) => jobs.length === 0,
  );
}, 400_000);

afterAll(async () => {
  await Promise.all([api, ...workers].map((process) => process?.end('SIGKILL')));
  await endAllIn(dataDir);
  await postgres?.stop();
  await Promise.all(
    [databaseDir, dataDir].map((folder) => rm(folder, { recursive: true, force: true, maxRetries: 5 })),
  );
});

async function uploaded(film: Buffer): Promise<string> {
  const started = await openUpload(api, 'ann');
  await putBytes(started, film);
  expect((await complete(api, 'ann', started.asset_id)).status).toBe(200);
  return started.asset_id;
}

const startWorkers = () => Promise.all(Array.from({ length: VIDEOS }, () => startProcess(workerSettings)));

/** Workers that have started the engine of a video. */
async function findBusyWorkers(): Promise<ServiceProcess[]> {
  const engines = await Promise.all(ids.map(processesNaming));
  const parents = new Set(engines.flat().map(({ parent }) => parent));
  return workers.filter(({ pid }) => parents.has(pid));
}

/** Every video has its engine; then all die at once, and their engines with them. */
async function killAllAtWork(): Promise<void> {
  const busy = await findAllAtWork();
  await Promise.all(busy.map((worker) => worker.end('SIGKILL')));
  killed += busy.length;
  await eventually(
    () => Promise.all(ids.map(processesNaming)),
    (found) => found.every(({ length }) => length === 0),
  );
  workers = await startWorkers();
  const readyAt = performance.now();
  await findAllAtWork();
  takeovers.push(performance.now() - readyAt);
}

const findAllAtWork = () =>
  eventually(findBusyWorkers, ({ length }) => length === VIDEOS, { withinMs: 120_000 });

test('all videos are ready after ten workers were killed while encoding', async () => {
  expect(killed).toBe(10);
  for (const id of ids)
    expect(await readAsset(api, 'ann', id)).toMatchObject({
      stream_status: 'ready',
      progress: 100,
      failure: null,
      warnings: [],
    });
});

test('other workers take over within 30 s, however often a video was taken over before', () => {
  expect(takeovers).toHaveLength(ROUNDS);
  for (const ms of takeovers) expect(ms).toBeLessThan(30_000);
});

test('each video was started by every worker, and finished once', async () => {
  expect(await rows(databaseDir, 'select distinct attempt, encode_run from assets')).toEqual([
    { attempt: 1, encode_run: ROUNDS + 1 },
  ]);
  // A worker that takes over publishes its first segments too.
  for (const id of ids)
    expect((await eventsOf(databaseDir, id)).filter((type) => type !== 'asset.updated').sort()).toEqual([
      'asset.created',
      'asset.playable',
      'asset.processing',
      'asset.ready',
      'asset.uploaded',
    ]);
});

test('each video has the renditions of the last worker only, and plays', async () => {
  for (const id of ids) {
    const files = await filesNaming(join(dataDir, 'objects'), `renditions/${id}/`);
    expect(new Set(files.map((path) => path.slice(0, path.lastIndexOf('/')).split('/').at(-1)))).toEqual(
      new Set([`1-${ROUNDS + 1}`]),
    );
  }
  const { body } = await call<{ hls: string }>(api, `GET /media/${ids[0]}/playback`, {
    headers: asUser('ann'),
  });
  expect(await decode(body.data.hls)).toEqual(CLEAN);
});

test('no scratch folder, partial file or ffmpeg process is left', async () => {
  expect(await readdir(join(dataDir, 'scratch'))).toEqual([]);
  expect(await filesNaming(join(dataDir, 'objects', 'incoming'))).toEqual([]);
  for (const id of ids) expect(await processesNaming(id)).toEqual([]);
});
