// An API process and two workers that encode long videos in chunks, paced so that a test can come in between.
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import { type ClipOptions, makeClip, pacedEngine } from '../clips/clips.ts';
import { readFrameNumbers } from '../clips/frame-numbers.ts';
import { type AssetJson, complete, openUpload, putBytes, settledWithoutFalling } from '../media.ts';
import { CLEAN, decode, packets, playlistsOf } from '../clips/picture-and-sound.ts';
import { startSharedData } from '../postgres/shared-data.ts';
import { asUser, call, eventually } from '../service.ts';
import {
  endAllIn,
  type ServiceProcess,
  sharedBy,
  startProcess,
  workerOf,
} from '../service/service-process.ts';
import { encodersOf, filesNaming, openJobs, processesNaming, rows } from '../service/traces.ts';

const SEGMENTS = 6;
/** Its own stream is the top rendition, which needs no time; the lower one is encoded in three chunks. */
const CLIP: ClipOptions = {
  seconds: SEGMENTS * 4,
  width: 640,
  height: 360,
  isNumbered: true,
  more: ['-preset', 'veryfast', '-b:v', '300k', '-g', '60', '-sc_threshold', '0'],
};
const FRAMES = Array.from({ length: SEGMENTS * 4 * 30 }, (_, frame) => frame);
export const CHUNKS = 3;

export type ChunkedWorkers = Awaited<ReturnType<typeof startChunkedWorkers>>;
type Chunked = Pick<ChunkedWorkers, 'api' | 'dataDir'>;

export async function startChunkedWorkers() {
  const data = await startSharedData();
  const { dataDir } = data;
  const shared = sharedBy({ ...data, ffmpegPath: await pacedEngine() });
  const api = await startProcess({ ...shared, MEDIARY_ROLE: 'api' });
  const settings = {
    ...workerOf(shared, api),
    ENCODE_CHUNK_S: '8',
    ENCODE_CONCURRENCY: '1',
    LOG_LEVEL: 'info',
  };
  const startWorker = () => startProcess(settings);
  const workers = await Promise.all([startWorker(), startWorker()]);
  return {
    api,
    workers,
    dataDir,
    /** In the place of one that was killed. */
    replace: async (killed: ServiceProcess) => {
      workers[workers.indexOf(killed)] = await startWorker();
    },
    stop: async () => {
      await Promise.all([api, ...workers].map((process) => process.end('SIGKILL')));
      await endAllIn(dataDir);
      await data.remove();
    },
  };
}

export const queryRows = ({ dataDir }: Chunked, statement: string, id: string) =>
  rows(dataDir, statement, [id]);

export async function uploadLongVideo({ api }: Pick<Chunked, 'api'>): Promise<string> {
  const started = await openUpload(api, 'ann');
  await putBytes(started, await readFile(await makeClip(CLIP)));
  expect((await complete(api, 'ann', started.asset_id)).status).toBe(200);
  return started.asset_id;
}

/** A video that both workers encode. */
export async function encodeLongVideo(cluster: ChunkedWorkers): Promise<string> {
  const id = await uploadLongVideo(cluster);
  await eventually(
    () => busyWorkers(cluster, id),
    ({ length }) => length === 2,
    { withinMs: 60_000 },
  );
  return id;
}

type Workers = { readonly workers: readonly ServiceProcess[] };

/** Those that encode the video now. */
export async function busyWorkers({ workers }: Workers, id: string): Promise<readonly ServiceProcess[]> {
  const encoders = await encodersOf(id);
  return workers.filter(({ pid }) => encoders.has(pid));
}

type Roles = { readonly owner: ServiceProcess; readonly helper: ServiceProcess };

/** The worker whose run the video is, and the one that only encodes chunks of it. */
export async function findRoles(cluster: ChunkedWorkers, id: string): Promise<Roles> {
  const [run] = await queryRows(cluster, 'select worker from encode_runs where asset_id = $1', id);
  const isOwner = ({ pid }: ServiceProcess) => String(run?.['worker']).endsWith(`:${pid}`);
  const [owner, helper] = cluster.workers.toSorted((a, b) => Number(isOwner(b)) - Number(isOwner(a)));
  if (!owner || !helper || !isOwner(owner)) throw new Error('no worker owns the run');
  return { owner, helper };
}

/** Progress never falls meanwhile. */
export const longVideoSettled = ({ api }: Chunked, id: string): Promise<AssetJson> =>
  settledWithoutFalling(api, 'ann', { id, progress: 0, withinMs: 120_000 });

/** Ready, with every frame once and in order, segments alike in all renditions, and continuous sound. */
export async function expectWhole(cluster: Chunked, id: string): Promise<void> {
  expect(await longVideoSettled(cluster, id)).toMatchObject({
    stream_status: 'ready',
    progress: 100,
    failure: null,
    warnings: [],
  });
  const { body } = await call<{ hls: string; dash: string }>(cluster.api, `GET /media/${id}/playback`, {
    headers: asUser('ann'),
  });
  const { hls, dash } = body.data;
  const { pictures, sounds } = await playlistsOf(hls);
  expect(pictures).toHaveLength(2);
  for (const url of pictures) {
    expect(await readFrameNumbers(url), url).toEqual(FRAMES);
    const list = await (await fetch(url)).text();
    expect(list.match(/^#EXTINF:.*$/gm)).toEqual(Array(SEGMENTS).fill('#EXTINF:4.000000,'));
  }
  const sound = await packets({ url: sounds[0] ?? '', stream: 'a:0' });
  const gaps = sound.slice(1).map(({ at }, index) => Math.abs(at - (sound[index]?.end ?? 0)));
  expect(Math.max(...gaps)).toBeLessThan(0.001);
  expect([await decode(hls), await decode(dash)]).toEqual([CLEAN, CLEAN]);
}

/** Neither jobs, rows nor processes. */
export async function expectNothingLeft(cluster: Chunked, id: string): Promise<void> {
  await eventually(
    () => openJobs(cluster.dataDir),
    ({ length }) => length === 0,
    { withinMs: 30_000 },
  );
  for (const table of ['encode_chunks', 'encode_checkpoints', 'encode_runs', 'growing_indexes'])
    expect(await queryRows(cluster, `select * from ${table} where asset_id = $1`, id), table).toEqual([]);
  expect(await processesNaming(id)).toEqual([]);
}

/** Only the files of the last run remain, once the others are due: late chunks may be stored until then. */
export async function expectOnlyRun(cluster: ChunkedWorkers, id: string, folder: string): Promise<void> {
  const [removal] = await queryRows(cluster, REMOVAL, id);
  const due = removal?.['due'];
  expect(due).toBeInstanceOf(Date);
  await eventually(
    async () => new Date(),
    (now) => now >= (due as Date),
  );
  await eventually(
    () => runFolders(cluster, id),
    (folders) => folders.length === 1 && folders[0] === folder,
  );
}

const REMOVAL = `
  select max(start_after) as due from pgboss.job
   where name = 'remove-run-files' and data ->> 'assetId' = $1`;

/** The run of an attempt that was started last. */
export const latestTryOf = async (cluster: ChunkedWorkers, id: string): Promise<unknown> =>
  (await queryRows(cluster, 'select encode_run from assets where id = $1', id))[0]?.['encode_run'];

/** The scratch folders of a video; those of killed workers are deleted later. */
export const scratchFolders = async ({ dataDir }: ChunkedWorkers, id: string): Promise<string[]> =>
  (await readdir(join(dataDir, 'scratch'))).filter((name) => name.includes(id));

/** The folders that hold renditions of a video: `<attempt>-<run>`. */
export async function runFolders({ dataDir }: ChunkedWorkers, id: string): Promise<string[]> {
  const files = await filesNaming(join(dataDir, 'objects'), `renditions/${id}/`);
  return [...new Set(files.map((path) => path.split('/').at(-2) ?? ''))].sort();
}
