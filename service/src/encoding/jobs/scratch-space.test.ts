// Tests that encodes wait for disk space with a real database and queue; the disk is a number.
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { rowsOf, startTestPostgres, type TestPostgres } from '../../../../test/support/postgres/postgres.ts';
import type { Asset } from '../../assets/asset.ts';
import { type JobPayloads, jobSettings } from '../../jobs.ts';
import { createVideo } from '../../lifecycle/asset.fixture.ts';
import { type JobQueue, openJobs } from '../../platform/jobs/job-queue.ts';
import type { Connection } from '../../platform/postgres/connection.ts';
import { type Database, openDatabase } from '../../platform/postgres/database.ts';
import { openScratchReservations } from '../../platform/process/scratch-reservations.ts';
import { createEncodingContext } from '../context.fixture.ts';
import { createScratchSpace } from './scratch-space.ts';

const MIB = 1024 ** 2;
/** Its encode needs at most 34 MiB. */
const VIDEO = { size_bytes: 10 * MIB, width: 640, height: 360, duration_ms: 3_600_000 };

let server: TestPostgres;
let connection: Connection;
let db: Database;
let jobs: JobQueue<JobPayloads>;
beforeAll(async () => {
  server = await startTestPostgres();
  connection = await server.migrated();
  db = openDatabase({ connection, onIdleError: () => undefined });
  const settings = jobSettings({
    encodeConcurrency: 1,
    importConcurrency: 1,
    importTimeoutSeconds: 1,
    hostedProviders: [],
  });
  jobs = await openJobs<JobPayloads>({
    connection,
    settings,
    searchedMember: 'assetId',
    onError: () => undefined,
  });
});
afterAll(async () => {
  await jobs.stop();
  await db.close();
  await server.stop();
});

let free: number;
let asset: Asset;
let encoded: number;
let told: string[];
beforeEach(async () => {
  [free, encoded, told] = [100 * MIB, 0, []];
  asset = createVideo({ ...VIDEO, stream_status: 'processing' });
  await addChunk();
  await rowsOf(connection, 'delete from encode_waits');
  await rowsOf(connection, 'delete from pgboss.job');
});

const createSpace = () =>
  createScratchSpace(
    createEncodingContext({
      db,
      jobs,
      store: { localFile: (key) => `/store/${key}` },
      worker: {
        name: 'machine:1',
        scratchReservations: openScratchReservations({
          minFreeBytes: 64 * MIB,
          freeBytes: async () => free,
          deleteAbandoned: async () => undefined,
        }),
      },
      now: () => new Date(),
      lifecycle: {
        findAssetById: async () => asset,
        recordCheck: async (seen, { data }) => {
          told.push(`timeline ${data['reason']}`);
          return seen;
        },
      },
      log: { warn: (_: object, message?: string) => void told.push(message ?? '') },
    }),
  );
const open = (encode: () => Promise<void> = async () => {}, space = createSpace()) =>
  space.forEncodes('encode-asset', async () => {
    encoded += 1;
    await encode();
  });
const start = (job: ReturnType<typeof open>) =>
  job({ payload: { assetId: asset.id, attempt: 1 }, signal: new AbortController().signal });
const waits = () => rowsOf(connection, 'select asset_id, worker from encode_waits');
const delayed = () =>
  rowsOf(connection, `select data from pgboss.job where state = 'created' and start_after > now()`);

test('an encode that does not fit waits, and is tried again later; the reason is given once', async () => {
  free = 90 * MIB;
  const job = open();
  await start(job);
  await start(job);
  expect(encoded).toBe(0);
  expect(told).toEqual(['an encode waits for space in the scratch folder', 'timeline scratch_disk_full']);
  expect(await waits()).toEqual([{ asset_id: asset.id, worker: 'machine:1' }]);
  expect(await delayed()).toEqual(Array(2).fill({ data: { assetId: asset.id, attempt: 1 } }));
});

test('it starts when space was freed, and waits no more', async () => {
  free = 90 * MIB;
  const job = open();
  await start(job);
  free = 98 * MIB;
  await start(job);
  expect(encoded).toBe(1);
  expect(await waits()).toEqual([]);
});

test('an encode that finds the disk full waits each time; the reason is given once', async () => {
  const full = Object.assign(new Error('no space left on device'), { code: 'ENOSPC' });
  const job = open(() => Promise.reject(full));
  await start(job);
  await start(job);
  expect(told).toEqual(['an encode waits for space in the scratch folder', 'timeline scratch_disk_full']);
  expect(await waits()).toEqual([{ asset_id: asset.id, worker: 'machine:1' }]);
  expect(await delayed()).toHaveLength(2);
  await start(open());
  expect([encoded, await waits()]).toEqual([3, []]);
});

test('a cancelled encode does not wait', async () => {
  free = 0;
  asset = { ...asset, stream_status: 'failed' };
  await start(open());
  expect([encoded, await delayed()]).toEqual([1, []]);
});

const CHUNK = { attempt: 1, run: 1, batch: 0, number: 3, bytes: 10 * MIB };

/** The video, and the chunk that waits for its worker. */
async function addChunk(): Promise<void> {
  await rowsOf(connection, 'delete from encode_chunks');
  await rowsOf(
    connection,
    `insert into assets (id, owner_user_id, kind, filename, content_type, mime_type, visibility, provider,
                         stream_status, attempt, encode_run, created_at, updated_at)
     values ($1, 'ann', 'video', 'a.mp4', 'video', 'video/mp4', 'private', 'onprem', 'processing', 1, 1,
             now(), now()) on conflict do nothing`,
    [asset.id],
  );
  await rowsOf(
    connection,
    `insert into encode_chunks (asset_id, attempt, run, batch, number, spec)
     values ($1, 1, 1, 0, 3, '{}')`,
    [asset.id],
  );
}

/** The numbers of the chunks that were given back. */
const refused = async () =>
  (await rowsOf(connection, `select number from encode_chunks where state = 'refused'`)).map(
    ({ number }) => number,
  );
const startChunk = (encode: () => Promise<void> = async () => {}, space = createSpace()) =>
  space.forChunks(async () => {
    encoded += 1;
    await encode();
  })({ payload: { assetId: asset.id, ...CHUNK }, signal: new AbortController().signal });
/** As if the wait had begun, and the other chunk had started, so long ago. */
const ageBy = (interval: string) =>
  rowsOf(
    connection,
    `with aged as (update encode_waits set since = since - '${interval}'::interval)
     update pgboss.job set started_on = started_on - '${interval}'::interval`,
  );

test('a chunk starts beside the run of its video, which reserves all that it may need', async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const space = createSpace();
  const first = start(open(() => promise, space));
  await expect.poll(() => encoded).toBe(1);
  free = 10 * MIB + 64 * MIB;
  await startChunk(undefined, space);
  expect([encoded, await delayed()]).toEqual([2, []]);
  resolve();
  await first;
});

test('a chunk that does not fit waits visibly, and is tried again later', async () => {
  free = 9 * MIB + 64 * MIB;
  await startChunk();
  await startChunk();
  expect([encoded, await refused()]).toEqual([0, []]);
  expect(told).toEqual(['an encode waits for space in the scratch folder', 'timeline scratch_disk_full']);
  expect(await waits()).toEqual([{ asset_id: asset.id, worker: 'machine:1' }]);
  expect(await delayed()).toEqual(Array(2).fill({ data: { assetId: asset.id, ...CHUNK } }));
});

test('after ten minutes without any chunk, the video is encoded in one piece', async () => {
  free = 0;
  await startChunk();
  await ageBy('11 minutes');
  await startChunk();
  expect([encoded, await refused(), (await delayed()).length]).toEqual([0, [CHUNK.number], 1]);
});

test('as long as other workers encode chunks of the video, one that does not fit waits', async () => {
  free = 0;
  await startChunk();
  const another = { assetId: asset.id, ...CHUNK, number: 4 };
  await db.transaction((tx) => jobs.sendFor(tx, 'ann', { name: 'encode-chunk', payload: another }));
  await rowsOf(
    connection,
    `update pgboss.job set state = 'active', started_on = now() where data ->> 'number' = '4'`,
  );
  await ageBy('11 minutes');
  await startChunk();
  expect([await refused(), (await delayed()).length]).toEqual([[], 2]);
});

test('the ten minutes begin anew with each chunk', async () => {
  free = 0;
  await startChunk();
  await ageBy('11 minutes');
  free = 90 * MIB;
  await startChunk();
  free = 0;
  await startChunk();
  expect([encoded, await refused()]).toEqual([1, []]);
});

test('a chunk whose run has ended does not wait', async () => {
  free = 0;
  await rowsOf(connection, `update encode_chunks set state = 'done'`);
  await startChunk();
  expect([encoded, await waits(), await delayed()]).toEqual([1, [], []]);
});
