// Tests with a real database and queue which worker may end a continued run, and what an end leaves.
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { rowsOf, startTestPostgres, type TestPostgres } from '../../../../test/support/postgres/postgres.ts';
import { type JobPayloads, jobSettings } from '../../jobs.ts';
import { createVideo } from '../../lifecycle/asset.fixture.ts';
import { offer } from '../../platform/values/offer.ts';
import { type JobQueue, openJobs } from '../../platform/jobs/job-queue.ts';
import type { Connection } from '../../platform/postgres/connection.ts';
import { type Database, openDatabase } from '../../platform/postgres/database.ts';
import { uuidV7 } from '../../platform/values/uuid-v7.ts';
import { createEncodingContext } from '../context.fixture.ts';
import { deleteChunks } from './encode-chunks.ts';
import * as checkpointOperations from './encode-checkpoints.ts';

const CHECKPOINT = { durationMs: 9000, isDividable: false, state: { name: 'NUL \u0000 and \ud800' } };

let server: TestPostgres;
let connection: Connection;
let db: Database;
let jobs: JobQueue<JobPayloads>;
beforeAll(async () => {
  server = await startTestPostgres();
  connection = await server.migrated();
  db = openDatabase({ connection, onIdleError: () => undefined });
  const limits = { encodeConcurrency: 1, importConcurrency: 1, importTimeoutSeconds: 1, hostedProviders: [] };
  jobs = await openJobs<JobPayloads>({
    connection,
    settings: jobSettings(limits),
    searchedMember: 'assetId',
    onError: () => undefined,
  });
});
afterAll(async () => {
  await jobs.stop();
  await db.close();
  await server.stop();
});

let asset: ReturnType<typeof createVideo>;
let run: { assetId: string; attempt: number; run: number };
const openWorker = (name: string) => () =>
  offer(
    createEncodingContext({ db, jobs, worker: { name }, lifecycle: { findAssetById: async () => asset } }),
    checkpointOperations,
  );
const [first, second] = [openWorker('machine:1'), openWorker('machine:2')];
const queued = async () =>
  (
    await rowsOf(
      connection,
      `select name from pgboss.job
        where data ->> 'assetId' = $1 order by created_on`,
      [asset.id],
    )
  ).map(({ name }) => name);
const setAsset = (change: string) =>
  rowsOf(connection, `update assets set ${change}, revision = revision + 1 where id = $1`, [asset.id]);

beforeEach(async () => {
  asset = createVideo({ id: uuidV7(), stream_status: 'processing' });
  run = { assetId: asset.id, attempt: 1, run: 1 };
  await rowsOf(
    connection,
    `insert into assets (id, owner_user_id, kind, filename, content_type, mime_type, visibility, provider,
                         stream_status, attempt, encode_run, duration_ms, original_upload,
                         created_at, updated_at)
     values ($1, 'ann', 'video', 'a.mp4', 'video', 'video/mp4', 'private', 'onprem', 'processing', 1, 1, 9000,
             $1, now(), now())`,
    [asset.id],
  );
});

test('a replaced worker may not end the run, and the next one gets the whole checkpoint', async () => {
  expect(await first().saveCheckpoint(run, CHECKPOINT)).toBe(true);
  expect(await queued()).toEqual(['encode-rest']);
  const frozen = await first().claimCheckpoint(run);
  const next = await second().claimCheckpoint(run);
  expect(next).toMatchObject({ checkpoint: CHECKPOINT, crashes: 1, claim: 2, mimeType: 'video/mp4' });
  if (!frozen || !next) throw new Error('the run cannot be continued');
  expect([await first().isCurrentClaim(frozen), await second().isCurrentClaim(next)]).toEqual([false, true]);
  expect(await first().startStoring(frozen)).toBe(false);
  expect(await second().startStoring(next)).toBe(true);
});

test('an interruption is no crash', async () => {
  await first().saveCheckpoint(run, CHECKPOINT);
  const claimed = await first().claimCheckpoint(run);
  if (!claimed) throw new Error('the run cannot be continued');
  await first().recordInterruption(claimed);
  expect(await second().claimCheckpoint(run)).toMatchObject({ crashes: 0, claim: 2 });
});

test('after a crash while the last files were stored, the video is encoded again', async () => {
  await first().saveCheckpoint(run, CHECKPOINT);
  const claimed = await first().claimCheckpoint(run);
  if (claimed) await first().startStoring(claimed);
  expect(await second().claimCheckpoint(run)).toBeUndefined();
  expect(await second().isRunUsed(run)).toBe(true);
  await second().restartEncode(run);
  await first().restartEncode(run);
  expect(await queued()).toEqual(['encode-rest', 'encode-asset']);
});

test('an asset that was cancelled or deleted is not continued', async () => {
  await first().saveCheckpoint(run, CHECKPOINT);
  const claimed = await first().claimCheckpoint(run);
  if (!claimed) throw new Error('the run cannot be continued');
  for (const change of [`stream_status = 'failed'`, `stream_status = 'processing', deleted_at = now()`]) {
    await setAsset(change);
    expect(await first().isCurrentClaim(claimed)).toBe(false);
    expect(await second().claimCheckpoint(run)).toBeUndefined();
    expect(await second().isRunUsed(run)).toBe(false);
    expect(await first().saveCheckpoint(run, CHECKPOINT)).toBe(false);
  }
});

test('an attempt whose rest waits is not started again, and one whose job was lost is', async () => {
  await first().saveCheckpoint(run, { ...CHECKPOINT, isDividable: true });
  expect(await queued()).toEqual(['encode-divided']);
  expect(await first().isContinued(run)).toBe(true);
  await rowsOf(connection, 'delete from pgboss.job where true');
  expect(await first().isContinued(run)).toBe(false);
});

test('the end of a run leaves the chunks of later runs and attempts', async () => {
  const ctx = createEncodingContext({ db });
  const insert = `
    insert into encode_chunks (asset_id, attempt, run, batch, number, spec, state)
    select $1, attempt, run, 1, 0, '{}', case when run = 1 then 'refused' else 'waiting' end
      from generate_series(1, 2) as attempt, generate_series(1, 3) as run`;
  const left = async () =>
    (
      await rowsOf(
        connection,
        'select attempt, run from encode_chunks where asset_id = $1 order by attempt, run',
        [asset.id],
      )
    ).map((row) => `${row['attempt']}-${row['run']}`);
  await rowsOf(connection, insert, [asset.id]);
  await deleteChunks(ctx, { ...run, run: 2 }, { keepsRefused: true });
  expect(await left()).toEqual(['1-1', '1-3', '2-1', '2-2', '2-3']);
  await deleteChunks(ctx, { assetId: asset.id, attempt: 1 });
  expect(await left()).toEqual(['2-1', '2-2', '2-3']);
  await deleteChunks(ctx, { ...run, attempt: 2, run: 2 }, { keepsRefused: true });
  expect(await left()).toEqual(['2-1', '2-3']);
});
