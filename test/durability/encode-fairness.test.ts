// One owner floods the queues; the first video and the first image of others wait for one job of each worker
// at most.
import { readFile, rm } from 'node:fs/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '@mediary/embedded-postgres/launcher';
import { ffmpegPath, makeClip } from '../support/clips/clips.ts';
import { complete, IMAGE, openUpload, putBytes, settled } from '../support/media.ts';
import { bombPng } from '../support/clips/pictures.ts';
import { newDataDir, newDatabaseDir } from '../support/service/data-folders.ts';
import {
  endAllIn,
  type ServiceProcess,
  sharedBy,
  startProcess,
  workerOf,
} from '../support/service/service-process.ts';
import { rows } from '../support/service/traces.ts';

const FLOOD = 1000;
const AT_ONCE = 20;
/** Each may have chosen a job before the victim's was committed. */
const WORKERS = 2;
/** Takes long enough to decode that the queue outlasts the test. */
const PICTURE = bombPng(3000, 2000);
const VICTIMS = ['bob', 'cem', 'dan', 'eve'];

let databaseDir: string;
let dataDir: string;
let postgres: EmbeddedPostgres;
let api: ServiceProcess;
let workers: ServiceProcess[] = [];

beforeAll(async () => {
  [databaseDir, dataDir] = [await newDatabaseDir(), await newDataDir()];
  postgres = await startEmbeddedPostgres(databaseDir);
  const shared = sharedBy({ postgres, dataDir, ffmpegPath: ffmpegPath() });
  api = await startProcess({ ...shared, MEDIARY_ROLE: 'api' });
  await flood({}, await readFile(await makeClip({ seconds: 1, width: 64, height: 36 })));
  await flood(IMAGE, PICTURE);
  const worker = { ...workerOf(shared, api), ENCODE_CONCURRENCY: '1' };
  workers = await Promise.all(Array.from({ length: WORKERS }, () => startProcess(worker)));
}, 600_000);

afterAll(async () => {
  await Promise.all([api, ...workers].map((process) => process?.end('SIGKILL')));
  await endAllIn(dataDir);
  await postgres?.stop();
  await Promise.all(
    [databaseDir, dataDir].map((folder) => rm(folder, { recursive: true, force: true, maxRetries: 5 })),
  );
});

async function uploaded(user: string, fields: object, bytes: Uint8Array): Promise<string> {
  const started = await openUpload(api, user, fields);
  await putBytes(started, bytes);
  expect((await complete(api, user, started.asset_id)).status).toBe(200);
  return started.asset_id;
}

async function flood(fields: object, bytes: Uint8Array): Promise<void> {
  const numbers = Array.from({ length: FLOOD }, (_, number) => number).values();
  const lane = async () => {
    for (const _ of numbers) await uploaded('ann', fields, bytes);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, lane));
}

/** The time of the database, as text without loss. */
const databaseTime = async (): Promise<string> =>
  String((await rows(databaseDir, 'select clock_timestamp()::text as time'))[0]?.['time']);

/**
 * Jobs of others that a worker took between the moment at which this asset's job was certainly committed, and
 * the one at which it was taken. A slow disk delays commits, and not the jobs that workers take meanwhile.
 */
async function jobsBefore(
  queue: string,
  { assetId, since }: { assetId: string; since: string },
): Promise<number> {
  const [row] = await rows(
    databaseDir,
    `select count(*)::int as count from pgboss.job as other, pgboss.job as mine
      where mine.name = $1 and mine.data ->> 'assetId' = $2 and other.name = mine.name
        and other.started_on > $3::timestamptz and other.started_on < mine.started_on`,
    [queue, assetId, since],
  );
  return Number(row?.['count']);
}

const waiting = async (queue: string): Promise<number> =>
  Number(
    (
      await rows(
        databaseDir,
        `select count(*)::int as count from pgboss.job where name = $1 and state = 'created'`,
        [queue],
      )
    )[0]?.['count'],
  );

test('the first image of each other owner waits for one job of each worker at most', async () => {
  for (const victim of VICTIMS) {
    const id = await uploaded(victim, IMAGE, PICTURE);
    const since = await databaseTime();
    expect(await settled(api, victim, id)).toMatchObject({ stream_status: 'ready' });
    expect(await jobsBefore('process-image', { assetId: id, since })).toBeLessThanOrEqual(WORKERS);
  }
  expect(await waiting('process-image')).toBeGreaterThan(0);
});

test('the first video of each other owner waits for one job of each worker at most', async () => {
  const film = await readFile(await makeClip({ seconds: 1, width: 64, height: 36 }));
  for (const victim of VICTIMS) {
    const id = await uploaded(victim, {}, film);
    const since = await databaseTime();
    expect(await settled(api, victim, id)).toMatchObject({ stream_status: 'ready' });
    expect(await jobsBefore('encode-asset', { assetId: id, since })).toBeLessThanOrEqual(WORKERS);
  }
  expect(await waiting('encode-asset')).toBeGreaterThan(0);
});
