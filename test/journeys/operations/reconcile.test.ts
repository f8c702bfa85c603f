// The reconcile job finds lost work and repeats it, or records why not and when it checks next (contract B6).
import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ENCODE_JOBS } from '../../../service/src/encoding/encode-jobs.ts';
import { makeClip, pacedEngine } from '../../support/clips/clips.ts';
import { type ClockedService, startClockedService } from '../../support/service/clocked-service.ts';
import { timelineOf } from '../../support/providers/hosted.ts';
import { complete, IMAGE, openUpload } from '../../support/media.ts';
import { makeSmallPng, processedAssetsOf } from '../../support/encoding/processed-assets.ts';
import { asUser, call, eventually, type TestService } from '../../support/service.ts';
import { directAddressOf, scrape } from '../../support/service/metrics.ts';
import { rows } from '../../support/service/traces.ts';
import { linkVideo, PROCESSED, tell } from '../../support/providers/webhooks.ts';

let clocked: ClockedService;
let service: TestService;
let clip: Buffer;
let picture: Buffer;

beforeAll(async () => {
  clocked = await startClockedService({ FFMPEG_PATH: await pacedEngine() });
  service = clocked.service;
  clip = await readFile(await makeClip({ seconds: 1 }));
  picture = await makeSmallPng();
});
afterAll(() => service?.stop());

const pass = (minutes: number) => clocked.runAfter(minutes, 'reconcile');

const { completed, reasonsOf, statusOf, jobsOf, expectReadyOnce } = processedAssetsOf(() => service);

/** Uploads a video, and waits until all jobs that encode it have ended. */
async function encoded(): Promise<string> {
  const id = await completed(clip);
  await eventually(
    () => rows(service.dataDir, 'select encoded_run from assets where id = $1', [id]),
    ([row]) => row?.['encoded_run'] === 1,
  );
  const areOpen = () =>
    Promise.all(ENCODE_JOBS.map((name) => service.adapters.jobs.hasOpenJob(name, { assetId: id })));
  await eventually(areOpen, (open) => !open.includes(true));
  return id;
}

describe('work whose job was lost', () => {
  test('an encode is enqueued again after its deadline, and the video becomes ready once', async () => {
    const id = await clocked.withLost('encode-asset', () => completed(clip));
    await pass(1);
    expect(await reasonsOf(id)).toEqual([]);
    await pass(2);
    expect(await reasonsOf(id)).toEqual(['not_due']);
    expect([await statusOf(id), await jobsOf(id)]).toEqual(['processing', []]);
    await pass(5);
    expect(await reasonsOf(id)).toEqual(['not_due', 'job_lost']);
    await expectReadyOnce(id);
    const { sumOf } = await scrape(directAddressOf(service));
    expect(sumOf('mediary_reconcile_checks_total', { provider: 'onprem', reason: 'job_lost' })).toBe(1);
    expect(
      (await timelineOf(service, id)).find(({ details }) => details['reason'] === 'job_lost'),
    ).toMatchObject({
      source: 'reconcile',
      sentence: expect.stringMatching(/lost.*started it again.*Next check at 20/),
    });
  });

  test('an encode whose report was lost is repeated, and the video becomes ready once', async () => {
    const id = await clocked.withLost('deliver-report', encoded);
    await pass(10);
    expect(await reasonsOf(id)).toEqual(['job_lost']);
    await expectReadyOnce(id);
    expect(await jobsOf(id)).toHaveLength(2);
  });

  test('an encode whose report was lost is repeated at once when its video is restored', async () => {
    const id = await clocked.withLost('deliver-report', encoded);
    for (const request of [`DELETE /media/${id}?trash=true`, `POST /media/${id}/restore`])
      expect((await call(service, request, { headers: asUser('ann') })).status).toBe(200);
    await expectReadyOnce(id);
    expect(await reasonsOf(id)).toEqual([]);
  });

  test('an image becomes ready once', async () => {
    const id = await clocked.withLost('process-image', () => completed(picture, IMAGE));
    await pass(10);
    await expectReadyOnce(id);
    expect(await reasonsOf(id)).toEqual(['job_lost']);
  });

  test('a second attempt and a restored asset are found too', async () => {
    const [again, restored] = await clocked.withLost('encode-asset', async () => {
      const [failed, removed] = [await completed(clip), await completed(clip)];
      expect(await tell(service, 'onprem', { asset_id: failed, status: 'failed' })).toEqual(PROCESSED);
      for (const request of [
        `POST /media/${failed}/retry?expand=asset`,
        `DELETE /media/${removed}?trash=true`,
        `POST /media/${removed}/restore`,
      ]) {
        expect((await call(service, request, { headers: asUser('ann') })).status).toBe(200);
      }
      return [failed, removed] as const;
    });
    await pass(10);
    expect([await reasonsOf(again), await reasonsOf(restored)]).toEqual([['job_lost'], ['job_lost']]);
    await Promise.all([again, restored].map(expectReadyOnce));
  });
});

test('every unfinished asset has a next check, in its row and in its timeline', async () => {
  const { asset_id: hosted } = await linkVideo(service, {
    provider: 'cdnhost',
    provider_video_id: 'unasked',
  });
  expect((await complete(service, 'ann', hosted)).body.data.stream_status).toBe('processing');
  const { asset_id: outside } = await openUpload(service, 'ann');
  for (const attempt of [1, 2])
    await tell(service, 'onprem', { asset_id: outside, status: 'processing', attempt });
  const kept = await clocked.withLost('encode-asset', () => completed(clip));
  const underWay = () =>
    rows(
      service.dataDir,
      `
    select id, reconcile_at is not null as is_looked_at, 
           (select data ? 'next_check_at' from events where asset_id = assets.id
            order by events.id desc limit 1) as says_so
      from assets where stream_status = 'processing' and deleted_at is null order by id`,
    );
  for (const minutes of [0, 2, 10]) {
    await clocked.withLost('encode-asset', () => pass(minutes));
    const found = await underWay();
    expect(found.map(({ id }) => id)).toEqual(expect.arrayContaining([hosted, outside, kept]));
    expect(found.filter((row) => !row['is_looked_at'] || !row['says_so'])).toEqual([]);
  }
  expect(await reasonsOf(hosted)).toContain('not_configured');
});
