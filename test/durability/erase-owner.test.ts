// Workers are killed while they erase an owner with thousands of assets: others go on, and nothing stays.
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { shardOf } from '../../service/src/storage/disk/shards.ts';
import { ffmpegPath } from '../support/clips/clips.ts';
import { makeSmallPng } from '../support/encoding/processed-assets.ts';
import { IMAGE, offer, settled } from '../support/media.ts';
import { completed, erase, erasureOf, receiptOf } from '../support/service/erasures.ts';
import { rowsNaming } from '../support/service/owner-traces.ts';
import {
  endAllIn,
  type ServiceProcess,
  sharedBy,
  startProcess,
  workerOf,
} from '../support/service/service-process.ts';
import { type SharedData, startSharedData } from '../support/postgres/shared-data.ts';
import { eventually } from '../support/service.ts';
import { filesNaming, rows } from '../support/service/traces.ts';

const OWNER = 'owner-of-thousands';
const ASSETS = 4000;
const KILLS = 2;

let data: SharedData;
let api: ServiceProcess;
let worker: ServiceProcess | undefined;
const startWorker = async () => startProcess(workerOf(sharedBy({ ...data, ffmpegPath: ffmpegPath() }), api));

beforeAll(async () => {
  data = await startSharedData();
  api = await startProcess({
    ...sharedBy({ ...data, ffmpegPath: ffmpegPath() }),
    MEDIARY_ROLE: 'api',
  });
  await fillOwner();
});

afterAll(async () => {
  await Promise.all([api, worker].map((process) => process?.end('SIGKILL')));
  await endAllIn(data.dataDir);
  await data?.remove();
});

/** Images with an original, an event and a completed job each. */
async function fillOwner(): Promise<void> {
  const created = await rows(
    data.dataDir,
    `with created as (
       insert into assets (id, owner_user_id, kind, filename, content_type, mime_type, visibility,
                           stream_status, uploaded_at, original_upload, size_bytes, created_at, updated_at)
       select gen_random_uuid(), $1, 'image', 'a.png', 'image', 'image/png', 'private', 'ready', now(),
              gen_random_uuid(), 1, now(), now() from generate_series(1, $2::int)
       returning id, owner_user_id, original_upload),
     recorded as (
       insert into events (id, asset_id, owner_user_id, type, data, created_at, revision)
       select gen_random_uuid(), id, owner_user_id, 'asset.ready', '{}', now(), 1 from created),
     done as (
       insert into pgboss.job (name, data, state, completed_on)
       select 'process-image', jsonb_build_object('assetId', id), 'completed', now() from created)
     select id, original_upload from created`,
    [OWNER, ASSETS],
  );
  for (const { id, original_upload: upload } of created) {
    const folder = join(data.dataDir, 'objects', 'originals', shardOf(String(id)));
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, `${String(id)}_${String(upload)}`), '1');
  }
}

test('every killed worker has a successor, others are not held up, and nothing stays', async () => {
  worker = await startWorker();
  const { id } = await erase(api, OWNER);
  for (let kill = 1; kill <= KILLS; kill++) {
    const enough = (ASSETS * kill) / (KILLS + 2);
    await eventually(
      () => erasureOf(api, OWNER, id),
      ({ counts }) => (counts['removed_asset_count'] ?? 0) > enough,
      { withinMs: 120_000 },
    );
    await worker.end('SIGKILL');
    expect((await erasureOf(api, OWNER, id)).status).toBe('running');
    worker = await startWorker();
  }
  const other = await offer(api, 'ben', { bytes: await makeSmallPng(), fields: IMAGE });
  expect((await settled(api, 'ben', other.id)).stream_status).toBe('ready');
  const erasure = await completed(api, OWNER, id);
  expect(erasure.counts).toMatchObject({ asset_count: ASSETS, removed_asset_count: ASSETS });
  const receipt = await receiptOf(api, OWNER, id);
  const removed = (kind: string) =>
    receipt.lines
      .filter((line) => line['kind'] === kind)
      .reduce((sum, line) => sum + Number(line['count']), 0);
  expect([removed('asset'), removed('originals_files'), receipt.isSigned]).toEqual([ASSETS, ASSETS, true]);
  expect(removed('events')).toBe(2 * ASSETS);
  expect(await rowsNaming(data.dataDir, [OWNER])).toEqual([]);
  expect(
    await rows(data.dataDir, `select id from pgboss.job where data ->> 'assetId' <> $1`, [other.id]),
  ).toEqual([]);
  const left = await filesNaming(join(data.dataDir, 'objects', 'originals'));
  expect(left.filter((path) => !path.includes(other.id))).toEqual([]);
}, 300_000);
