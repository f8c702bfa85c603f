// Owners see when their videos are expected to be ready, and learn once why one is late.
import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeClip, pacedEngine } from '../../support/clips/clips.ts';
import { type AssetJson, complete, openUpload, putBytes, readAsset, settled } from '../../support/media.ts';
import { timelineOf } from '../../support/providers/hosted.ts';
import { LIBRARY, linkVideo, PROCESSED, tell } from '../../support/providers/webhooks.ts';
import { asUser, call, eventually, startTestService, type TestService } from '../../support/service.ts';
import { rows } from '../../support/service/traces.ts';

let service: TestService;
let film: Buffer;
let clip: Buffer;
beforeAll(async () => {
  service = await startTestService({
    FFMPEG_PATH: await pacedEngine(),
    ENCODE_CONCURRENCY: '1',
    CDNHOST_STREAM_LIBRARY_ID: String(LIBRARY),
  });
  film = await readFile(await makeClip({ seconds: 60 }));
  clip = await readFile(await makeClip({ seconds: 1 }));
});
afterAll(() => service?.stop());

async function uploaded(bytes = film): Promise<string> {
  const started = await openUpload(service, 'ann');
  await putBytes(started, bytes);
  expect((await complete(service, 'ann', started.asset_id)).status).toBe(200);
  return started.asset_id;
}

const positionsOf = async (ids: readonly string[]) =>
  (await Promise.all(ids.map((id) => readAsset(service, 'ann', id)))).map(
    ({ queue_position: position }) => position,
  );

const at = (asset: AssetJson, name: string): number => Date.parse(String(asset[name]));

async function reconcile(): Promise<void> {
  const { jobs, db } = service.adapters;
  await db.transaction((tx) => jobs.send(tx, 'reconcile', {}));
  await eventually(
    () => jobs.hasOpenJob('reconcile', {}),
    (isOpen) => !isOpen,
  );
}

const delaysOf = async (id: string) =>
  (await timelineOf(service, id)).filter(({ type }) => type === 'asset.delayed');

test('a video that is ready has no expected times, and was measured for the next estimates', async () => {
  const id = await uploaded(clip);
  const ready = await settled(service, 'ann', id);
  expect(ready).toMatchObject({
    stream_status: 'ready',
    expected_playable_at: null,
    expected_ready_at: null,
    expected_ready_range: null,
    queue_position: null,
  });
  const ended =
    'select ready_work, ready_ms from encode_estimates where asset_id = $1 and ended_at is not null';
  const [sample] = await eventually(
    () => rows(service.dataDir, ended, [id]),
    ({ length }) => length === 1,
  );
  expect(Number(sample?.['ready_ms'])).toBeGreaterThan(0);
});

test('expected times follow the queue, and the first delay is announced with its cause', async () => {
  const ids = [await uploaded(), await uploaded(), await uploaded()];
  const [running, next, last] = ids as [string, string, string];
  await eventually(
    () => positionsOf(ids),
    (positions) => positions.join() === '0,1,2',
  );
  const assets = await Promise.all(ids.map((id) => readAsset(service, 'ann', id)));
  const readyTimes = assets.map((asset) => at(asset, 'expected_ready_at'));
  expect(readyTimes).toEqual(readyTimes.toSorted((a, b) => a - b));
  for (const asset of assets.slice(1)) {
    const range = asset['expected_ready_range'] as AssetJson;
    expect(at(asset, 'expected_playable_at')).toBeGreaterThan(Date.now());
    expect(at(asset, 'expected_playable_at')).toBeLessThanOrEqual(at(asset, 'expected_ready_at'));
    expect(at(range, 'earliest_at')).toBeLessThan(at(range, 'latest_at'));
  }
  const { data } = (
    await call<{ items: AssetJson[] }>(service, 'GET /media?status=processing', { headers: asUser('ann') })
  ).body;
  expect(data.items.map(({ queue_position: position }) => position)).toEqual([2, 1, 0]);

  await rows(
    service.dataDir,
    `update encode_estimates
     set delayed_after = now() + case when asset_id = any($1) then interval '0' else interval '1 day' end`,
    [[running, last]],
  );
  await reconcile();
  await reconcile();
  const [[slow], [late], [punctual]] = [await delaysOf(running), await delaysOf(last), await delaysOf(next)];
  expect(slow).toMatchObject({ source: 'reconcile', attempt: 1, details: { reason: 'encoding_slow' } });
  expect(late).toMatchObject({
    sentence:
      'The asset is late. The encode still waits for a free slot, because others run or wait before it.',
    details: { reason: 'waiting_for_slot', expected_latest_at: expect.any(String) },
  });
  expect(punctual).toBeUndefined();
  expect((await delaysOf(last)).length).toBe(1);
});

test('a hosted video has expected times once its provider reports a percentage', async () => {
  const video = { provider: 'cdnhost', provider_video_id: 'a-video' } as const;
  const { asset_id: id } = await linkVideo(service, video);
  const report = { VideoLibraryId: LIBRARY, VideoGuid: video.provider_video_id, Status: 7 };
  expect(await tell(service, 'cdnhost', report)).toEqual(PROCESSED);
  expect(await readAsset(service, 'ann', id)).toMatchObject({ progress: 0, expected_ready_at: null });
  await rows(
    service.dataDir,
    `with since as (
       update unfinished_assets set processing_since = now() - interval '1 minute' where asset_id = $1)
     update assets set progress = 25, updated_at = now() where id = $1`,
    [id],
  );
  const asset = await readAsset(service, 'ann', id);
  expect(asset['queue_position']).toBeNull();
  const waitS = (at(asset, 'expected_ready_at') - Date.now()) / 1000;
  expect(waitS).toBeGreaterThan(150);
  expect(waitS).toBeLessThan(200);
});
