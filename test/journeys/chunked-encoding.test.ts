// A long video is encoded in chunks by two workers, of which one may be killed, and plays as if by one.
import { readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '@mediary/embedded-postgres/launcher';
import { type ClipOptions, makeClip, pacedEngine } from '../support/clips.ts';
import { readFrameNumbers } from '../support/frame-numbers.ts';
import { type AssetJson, complete, openUpload, putBytes, readAsset } from '../support/media.ts';
import { CLEAN, decode, packets, playlistsOf } from '../support/picture-and-sound.ts';
import { asUser, call, eventually, newDataDir, newDatabaseDir } from '../support/service.ts';
import {
  endAllIn,
  type ServiceProcess,
  sharedBy,
  startProcess,
  workerOf,
} from '../support/service-process.ts';
import { filesNaming, openJobs, processesNaming, rows } from '../support/traces.ts';

/** Its own stream is the top rendition, which needs no time; the lower one is encoded in four chunks. */
const CLIP: ClipOptions = {
  seconds: 32,
  width: 640,
  height: 360,
  isNumbered: true,
  more: ['-preset', 'veryfast', '-b:v', '300k', '-g', '60', '-sc_threshold', '0'],
};
const FRAMES = Array.from({ length: 32 * 30 }, (_, frame) => frame);
const CHUNKS = 4;

let databaseDir: string;
let dataDir: string;
let postgres: EmbeddedPostgres;
let api: ServiceProcess;
let workers: ServiceProcess[];
let workerSettings: Record<string, string | undefined>;

beforeAll(async () => {
  [databaseDir, dataDir] = [await newDatabaseDir(), await newDataDir()];
  postgres = await startEmbeddedPostgres(databaseDir);
  const shared = sharedBy({ postgres, dataDir, ffmpegPath: await pacedEngine() });
  api = await startProcess({ ...shared, MEDIARY_ROLE: 'api' });
  workerSettings = {
    ...workerOf(shared, api),
    ENCODE_CHUNK_S: '8',
    ENCODE_CONCURRENCY: '1',
    LOG_LEVEL: 'info',
  };
  workers = await Promise.all([startProcess(workerSettings), startProcess(workerSettings)]);
}, 120_000);

afterAll(async () => {
  await Promise.all([api, ...workers].map((process) => process.end('SIGKILL')));
  await endAllIn(dataDir);
  await postgres.stop();
  await Promise.all(
    [databaseDir, dataDir].map((folder) => rm(folder, { recursive: true, force: true, maxRetries: 5 })),
  );
});

async function uploaded(): Promise<string> {
  const started = await openUpload(api, 'ann');
  await putBytes(started, await readFile(await makeClip(CLIP)));
  expect((await complete(api, 'ann', started.asset_id)).status).toBe(200);
  return started.asset_id;
}

/** The workers that encode a part of this asset now. */
async function encodersOf(id: string): Promise<ServiceProcess[]> {
  const parents = (await processesNaming(id)).map(({ parent }) => parent);
  return workers.filter(({ pid }) => parents.includes(pid));
}

const bothEncode = (id: string) =>
  eventually(
    () => encodersOf(id),
    ({ length }) => length === 2,
    { withinMs: 60_000 },
  );

/** The worker whose run the video is. */
async function findOwner(id: string): Promise<ServiceProcess> {
  const [run] = await rows(databaseDir, 'select worker from encode_runs where asset_id = $1', [id]);
  const owner = workers.find(({ pid }) => String(run?.['worker']).endsWith(`:${pid}`));
  if (!owner) throw new Error('no worker owns the run');
  return owner;
}

const tryOf = async (id: string) =>
  (await rows(databaseDir, 'select encode_try from assets where id = $1', [id]))[0]?.['encode_try'];

const chunkRows = (id: string) =>
  rows(databaseDir, 'select number, state from encode_chunks where asset_id = $1', [id]);

/** Progress never falls meanwhile. */
async function settled(id: string): Promise<AssetJson> {
  let furthest = 0;
  return eventually(
    async () => {
      const seen = await readAsset(api, 'ann', id);
      expect(seen.progress).toBeGreaterThanOrEqual(furthest);
      furthest = seen.progress;
      return seen;
    },
    ({ stream_status: status }) => status !== 'processing',
    { withinMs: 120_000 },
  );
}

const READY = { stream_status: 'ready', progress: 100, failure: null, warnings: [] };

async function expectWhole(id: string): Promise<void> {
  const { body } = await call<{ hls: string; dash: string }>(api, `GET /media/${id}/playback`, {
    headers: asUser('ann'),
  });
  const { hls, dash } = body.data;
  const { pictures, sounds } = await playlistsOf(hls);
  expect(pictures).toHaveLength(2);
  for (const url of pictures) expect(await readFrameNumbers(url), url).toEqual(FRAMES);
  const lists = await Promise.all(
    pictures.map(async (url) => (await (await fetch(url)).text()).match(/^#EXTINF:.*$/gm)),
  );
  expect(lists[0]).toEqual(Array(8).fill('#EXTINF:4.000000,'));
  expect(lists[1]).toEqual(lists[0]);
  const sound = await packets({ url: sounds[0] ?? '', stream: 'a:0' });
  const gaps = sound.slice(1).map(({ at }, index) => Math.abs(at - (sound[index]?.end ?? 0)));
  expect(Math.max(...gaps)).toBeLessThan(0.001);
  expect([await decode(hls), await decode(dash)]).toEqual([CLEAN, CLEAN]);
}

async function expectNothingLeft(id: string): Promise<void> {
  await eventually(
    () => openJobs(databaseDir),
    ({ length }) => length === 0,
    { withinMs: 30_000 },
  );
  expect(await chunkRows(id)).toEqual([]);
  expect(await processesNaming(id)).toEqual([]);
}

/** Folders of killed workers are deleted later. */
const scratchFolders = async (id: string): Promise<string[]> =>
  (await readdir(join(dataDir, 'scratch'))).filter((name) => name.includes(id));

const folderFiles = async (id: string): Promise<string[]> =>
  (await filesNaming(join(dataDir, 'objects'), `renditions/${id}/`)).map((path) =>
    path.slice(path.indexOf(`renditions/${id}/`)),
  );

test('both workers encode chunks, and the video has every frame once, in order', async () => {
  const id = await uploaded();
  await bothEncode(id);
  expect(await settled(id)).toMatchObject(READY);
  await expectWhole(id);
  await expectNothingLeft(id);
  expect(await scratchFolders(id)).toEqual([]);
  const encoded = workers.map(
    ({ log }) =>
      log()
        .split('\n')
        .filter((line) => line.includes('a chunk of a video was encoded') && line.includes(id)).length,
  );
  expect(encoded.reduce((sum, count) => sum + count, 0)).toBe(CHUNKS);
  expect(Math.min(...encoded)).toBeGreaterThan(0);
}, 180_000);

test('deletion stops all workers within two seconds, and leaves no files, rows or jobs', async () => {
  const id = await uploaded();
  await bothEncode(id);
  expect((await call(api, `DELETE /media/${id}`, { headers: asUser('ann') })).status).toBe(200);
  await eventually(
    () => processesNaming(id),
    ({ length }) => length === 0,
    { withinMs: 2500 },
  );
  await expectNothingLeft(id);
  expect(await scratchFolders(id)).toEqual([]);
  await eventually(
    () => folderFiles(id),
    ({ length }) => length === 0,
  );
}, 120_000);

test('chunks with other headers are not joined: the next run encodes the video in one piece', async () => {
  const id = await uploaded();
  await bothEncode(id);
  await rows(
    databaseDir,
    `update encode_chunks set init_digest = 'that of another ffmpeg' where asset_id = $1 and number = 3`,
    [id],
  );
  expect(await settled(id)).toMatchObject(READY);
  expect(await tryOf(id)).toBe(2);
  await expectWhole(id);
  await expectNothingLeft(id);
  await eventually(
    () => folderFiles(id),
    (files) => files.every((path) => path.startsWith(`renditions/${id}/1-2/`)),
  );
}, 240_000);

test('a chunk that crashes its workers repeatedly fails the video, and the other chunks stop', async () => {
  const id = await uploaded();
  await bothEncode(id);
  await rows(databaseDir, 'update encode_chunks set tries = 10 where asset_id = $1 and number = 3', [id]);
  expect(await settled(id)).toMatchObject({
    stream_status: 'failed',
    failure: { code: 'encoder_crashed', retryable: true },
    playback: null,
  });
  await expectNothingLeft(id);
  expect(await scratchFolders(id)).toEqual([]);
  const [removal] = await rows(
    databaseDir,
    `select start_after <= now() + interval '1 minute' as is_soon from pgboss.job
      where name = 'remove-run-files' and state = 'created' and data->>'assetId' = $1`,
    [id],
  );
  expect(removal).toEqual({ is_soon: true });
}, 120_000);

test('another worker encodes the chunk of a killed one, in the same run', async () => {
  const id = await uploaded();
  await bothEncode(id);
  const owner = await findOwner(id);
  const [killed] = workers.filter((worker) => worker !== owner);
  await killed?.end('SIGKILL');
  expect(await settled(id)).toMatchObject(READY);
  expect(await tryOf(id)).toBe(1);
  await expectWhole(id);
  workers = [owner, await startProcess(workerSettings)];
  await expectNothingLeft(id);
}, 240_000);

test('another worker takes over the video of a killed one, and only its run is published', async () => {
  const id = await uploaded();
  await bothEncode(id);
  const owner = await findOwner(id);
  const [other] = workers.filter((worker) => worker !== owner);
  await owner.end('SIGKILL');
  workers = [other as ServiceProcess];
  expect(await settled(id)).toMatchObject(READY);
  await expectWhole(id);
  await expectNothingLeft(id);
  await eventually(
    () => folderFiles(id),
    (files) => files.length > 0 && files.every((path) => path.startsWith(`renditions/${id}/1-2/`)),
  );
}, 240_000);

test('one worker alone encodes all chunks', async () => {
  const id = await uploaded();
  expect(await settled(id)).toMatchObject(READY);
  await expectWhole(id);
  await expectNothingLeft(id);
}, 240_000);
