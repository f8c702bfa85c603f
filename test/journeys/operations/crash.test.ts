// The service is killed or stopped during an encode: the work is finished exactly once, and no files or
// processes remain.
import { readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { waitForEngine, waitForEngineEnd } from '../../support/encoding/engines.ts';
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
import { asUser, call, eventually } from '../../support/service.ts';
import { newDatabaseDir } from '../../support/service/data-folders.ts';
import { endAllIn, NPM, type ServiceProcess, startProcess } from '../../support/service/service-process.ts';
import { eventsOf, filesNaming, openJobs, processesNaming } from '../../support/service/traces.ts';

let dataDir: string;
let environment: Record<string, string>;
let service: ServiceProcess;
let film: Buffer;

beforeAll(async () => {
  film = await readFile(await makeClip({ seconds: 12, more: NOT_COPYABLE }));
  dataDir = await newDatabaseDir();
  environment = { DATA_DIR: dataDir, FFMPEG_PATH: await pacedEngine() };
  service = await startProcess(environment);
});
afterAll(async () => {
  await service.end('SIGKILL');
  await endAllIn(dataDir);
  await rm(dataDir, { recursive: true, force: true, maxRetries: 5 });
});

/** Its id, and the furthest progress that was seen. */
type Encoding = { readonly id: string; readonly progress: number };

async function encoding(): Promise<Encoding> {
  const started = await openUpload(service, 'ann');
  await putBytes(started, film);
  expect((await complete(service, 'ann', started.asset_id)).status).toBe(200);
  const { progress } = await eventually(
    () => readAsset(service, 'ann', started.asset_id),
    (asset) => asset.progress > 0,
  );
  expect(progress).toBeLessThan(100);
  return { id: started.asset_id, progress };
}

const readyWithoutFalling = (begun: Encoding): Promise<AssetJson> =>
  settledWithoutFalling(service, 'ann', { ...begun, withinMs: 120_000 });

async function expectDoneOnce(asset: AssetJson): Promise<void> {
  expect(asset).toMatchObject({ stream_status: 'ready', progress: 100, failure: null, warnings: [] });
  await eventually(
    () => openJobs(dataDir),
    (jobs) => jobs.length === 0,
  );
  // The next run publishes its first segments too.
  const events = (await eventsOf(dataDir, asset.id)).filter((type) => type !== 'asset.updated');
  expect(events.sort()).toEqual([
    'asset.created',
    'asset.playable',
    'asset.processing',
    'asset.ready',
    'asset.uploaded',
  ]);
  const { body } = await call<{ hls: string }>(service, `GET /media/${asset.id}/playback`, {
    headers: asUser('ann'),
  });
  expect(await decode(body.data.hls)).toEqual(CLEAN);
  expect(await publishedFolders(asset.id)).toHaveLength(1);
  expect(await readdir(join(dataDir, 'scratch'))).toEqual([]);
  expect(await filesNaming(join(dataDir, 'objects', 'incoming'))).toEqual([]);
  expect(await processesNaming(asset.id)).toEqual([]);
}

async function publishedFolders(id: string): Promise<string[]> {
  const files = await filesNaming(join(dataDir, 'objects'), `renditions/${id}/`);
  return [...new Set(files.map((path) => path.slice(0, path.lastIndexOf('/'))))];
}

test('a service that is killed while encoding finishes the video once after the next start', async () => {
  const begun = await encoding();
  await waitForEngine(begun.id);
  expect(await service.end('SIGKILL')).toEqual({ code: null, signal: 'SIGKILL' });
  await waitForEngineEnd(begun.id);
  expect(await readdir(join(dataDir, 'scratch'))).toHaveLength(1);

  service = await startProcess(environment);
  await expectDoneOnce(await readyWithoutFalling(begun));
});

test('a service that is stopped while encoding exits cleanly, and finishes the video later', async () => {
  const begun = await encoding();
  expect(await service.end('SIGTERM')).toEqual({ code: 0, signal: null });
  expect(await processesNaming(dataDir)).toEqual([]);
  expect(await readdir(join(dataDir, 'scratch'))).toEqual([]);

  service = await startProcess(environment, NPM);
  await expectDoneOnce(await readyWithoutFalling(begun));
  // A run that was handed back does not count, unless players may have read its files.
  expect(await publishedFolders(begun.id)).toEqual([expect.stringMatching(/\/1-[12]$/)]);
});

test('a service that is stopped through npm exits cleanly and leaves no process', async () => {
  expect((await encoding()).progress).toBeGreaterThan(0);
  expect(await service.end('SIGTERM')).toEqual({ code: 0, signal: null });
  expect(await processesNaming(dataDir)).toEqual([]);
});
