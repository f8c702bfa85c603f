// The videos of one owner occupy a worker with one slot; those of others are playable and ready soon.
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ffmpegPath, makeClip } from '../support/clips/clips.ts';
import { complete, openUpload, putBytes, readAsset, settled } from '../support/media.ts';
import { type SharedData, startSharedData } from '../support/postgres/shared-data.ts';
import { eventually } from '../support/service.ts';
import {
  endAllIn,
  type ServiceProcess,
  sharedBy,
  startProcess,
  workerOf,
} from '../support/service/service-process.ts';

const PLAYABLE_MS = 15_000;
const READY_MS = 60_000;
const QUEUE = 100;
const OTHERS = 20;
/** Beside the own first phase. The goal is 5 s (4 s on two idle cores); the rest is for slower machines. */
const PLAYABLE_DELAY_MS = 8000;
const LONG = { timeout: 300_000 };

/** A small video of twelve hours, which an encoder raises to one frame per second. */
const FRAMES = 43;
const SECONDS = 12 * 3600 - 60;

async function makeSparseVideo(path: string): Promise<void> {
  await promisify(execFile)(ffmpegPath(), [
    ...['-y', '-f', 'lavfi', '-i', `testsrc2=size=1280x720:rate=1,setpts=N*${SECONDS / FRAMES}/TB`],
    ...['-frames:v', String(FRAMES), '-fps_mode', 'vfr', '-enc_time_base', '1/1000'],
    ...['-c:v', 'libx264', '-preset', 'ultrafast', '-pix_fmt', 'yuv420p', path],
  ]);
}

let data: SharedData;
let api: ServiceProcess;
let worker: ServiceProcess;
let short: Buffer;
/** Without other work. */
let playableAlone: number;

beforeAll(async () => {
  data = await startSharedData();
  const shared = sharedBy({ ...data, ffmpegPath: ffmpegPath() });
  api = await startProcess({ ...shared, MEDIARY_ROLE: 'api' });
  worker = await startProcess({ ...workerOf(shared, api), ENCODE_CONCURRENCY: '1' });
  short = await readFile(await makeClip({ seconds: 4, width: 1280, height: 720 }));
  playableAlone = (await timesOf('first')).playable;
}, 300_000);

afterAll(async () => {
  await Promise.all([api, worker].map((process) => process?.end('SIGKILL')));
  await endAllIn(data.dataDir);
  await data?.remove();
});

async function uploaded(user: string, bytes: Uint8Array): Promise<string> {
  const started = await openUpload(api, user);
  await putBytes(started, bytes);
  expect((await complete(api, user, started.asset_id)).status).toBe(200);
  return started.asset_id;
}

const playable = (user: string, id: string) =>
  eventually(
    () => readAsset(api, user, id),
    (asset) => asset['playable_at'] !== null,
    { withinMs: 120_000 },
  );

/** Milliseconds from the end of its upload until a 4 s video is playable, and ready. */
async function timesOf(user: string): Promise<{ playable: number; ready: number }> {
  const id = await uploaded(user, short);
  const since = performance.now();
  await playable(user, id);
  const playableMs = performance.now() - since;
  expect(await settled(api, user, id)).toMatchObject({ stream_status: 'ready' });
  const times = { playable: playableMs, ready: performance.now() - since };
  console.info(user, times);
  return times;
}

async function expectSoon(victim: string): Promise<void> {
  const times = await timesOf(victim);
  expect(times.playable).toBeLessThan(PLAYABLE_MS);
  expect(times.ready).toBeLessThan(READY_MS);
}

test('beside a video of twelve hours', LONG, async () => {
  const path = join(data.dataDir, 'sparse.mp4');
  await makeSparseVideo(path);
  const id = await uploaded('attacker', await readFile(path));
  await eventually(
    () => readAsset(api, 'attacker', id),
    ({ progress }) => progress > 0,
    { withinMs: 120_000 },
  );
  await expectSoon('ann');
  await expectSoon('bob');
  expect(await readAsset(api, 'attacker', id)).toMatchObject({ stream_status: 'processing' });
});

test('beside that video and a queue of a hundred', LONG, async () => {
  const numbers = Array.from({ length: QUEUE }, (_, number) => number).values();
  const lane = async () => {
    for (const _ of numbers) await uploaded('attacker', short);
  };
  await Promise.all([lane(), lane(), lane(), lane()]);
  await expectSoon('cem');
  await expectSoon('dan');
});

test('playable seconds later than alone, while twenty videos of others are encoded', LONG, async () => {
  const owners = Array.from({ length: OTHERS }, (_, number) => `other-${number}`);
  const film = await readFile(await makeClip({ seconds: 30, width: 1280, height: 720, container: 'mp4' }));
  const ids: string[] = [];
  for (const owner of owners) ids.push(await uploaded(owner, film));
  for (const [index, owner] of owners.entries()) await playable(owner, ids[index] ?? '');
  const id = await uploaded('eve', short);
  const since = performance.now();
  await playable('eve', id);
  const delay = performance.now() - since;
  console.info('eve', { delay, playableAlone });
  expect(delay).toBeLessThan(playableAlone + PLAYABLE_DELAY_MS);
});
