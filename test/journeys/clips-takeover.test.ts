// Two workers beside an API, each a process: the one that cuts a clip is killed, and the other cuts it whole.
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '@mediary/embedded-postgres/launcher';
import { ffmpegPath, makeClip, pacedEngine } from '../support/clips.ts';
import { type AssetJson, ingest, settled } from '../support/media.ts';
import { decode, CLEAN, endOf } from '../support/picture-and-sound.ts';
import { asUser, call, eventually, newDataDir, newDatabaseDir } from '../support/service.ts';
import {
  endAllIn,
  type ServiceProcess,
  sharedBy,
  startProcess,
  workerOf,
} from '../support/service-process.ts';
import { originalFiles } from '../support/traces.ts';

let folders: string[];
let postgres: EmbeddedPostgres;
let api: ServiceProcess;
let worker: ServiceProcess;
let startWorker: (engine: string) => Promise<ServiceProcess>;

beforeAll(async () => {
  folders = [await newDatabaseDir(), await newDataDir()];
  const [databaseDir = '', dataDir = ''] = folders;
  postgres = await startEmbeddedPostgres(databaseDir);
  const shared = sharedBy({ postgres, dataDir, ffmpegPath: ffmpegPath() });
  api = await startProcess({ ...shared, MEDIARY_ROLE: 'api' });
  startWorker = (engine) => startProcess(workerOf({ ...shared, FFMPEG_PATH: engine }, api));
  worker = await startWorker(await pacedEngine());
}, 120_000);

afterAll(async () => {
  await Promise.all([api, worker].map((process) => process.end('SIGKILL')));
  await endAllIn(folders[1] ?? '');
  await postgres.stop();
  await Promise.all(folders.map((folder) => rm(folder, { recursive: true, force: true, maxRetries: 5 })));
});

const scratchOf = async (id: string): Promise<string[]> =>
  (await readdir(join(folders[1] ?? '', 'scratch'))).filter((name) => name.includes(`clip-${id}`));

test('a worker that is killed during a cut is replaced within a minute and leaves no bytes', async () => {
  const source = await ingest(api, 'ann', { file: await makeClip({ seconds: 20 }) });
  const { body } = await call<AssetJson>(api, `POST /media/${source.id}/clip`, {
    headers: asUser('ann'),
    json: { start_ms: 1000, end_ms: 19_000 },
  });
  const { id } = body.data;
  await eventually(
    () => scratchOf(id),
    (found) => found.length === 1,
  );
  await worker.end('SIGKILL');
  worker = await startWorker(ffmpegPath());

  const clip = await settled(api, 'ann', id);
  expect(clip).toMatchObject({ stream_status: 'ready', duration_ms: 18_000, failure: null });
  const [original = '', ...others] = await originalFiles(folders[1] ?? '', id);
  expect(others).toEqual([]);
  expect(await decode(original)).toEqual(CLEAN);
  expect(await endOf({ url: original, stream: 'v:0' })).toBeCloseTo(18, 1);
  expect(await scratchOf(id)).toEqual([]);
}, 180_000);
