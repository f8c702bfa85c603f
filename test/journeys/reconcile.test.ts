// Whatever is lost on the way of our own work, the sweep finds it: it starts the work again, or says why not
// and when it looks next (contract B6).
import { readFile } from 'node:fs/promises';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { JobPayloads } from '../../service/src/jobs.ts';
import type { Adapters } from '../../service/src/adapters.ts';
import { makeClip, pacedEngine } from '../support/clips.ts';
import { timelineOf } from '../support/hosted.ts';
import { complete, IMAGE, openUpload, putBytes, readAsset, settled } from '../support/media.ts';
import { asUser, call, eventually, startTestService, type TestService } from '../support/service.ts';
import { eventsOf, rows } from '../support/traces.ts';
import { linkVideo, PROCESSED, tell } from '../support/webhooks.ts';

type JobName = keyof JobPayloads;

let service: TestService;
let clip: Buffer;
let longClip: Buffer;
let picture: Buffer;
let offset = 0;
/** Jobs of these names vanish as soon as they are sent. */
const lost = new Set<JobName>();
const losing = (parts: Adapters): Adapters => ({
  ...parts,
  jobs: {
    ...parts.jobs,
    send: async (tx, name, payload) => (lost.has(name) ? undefined : parts.jobs.send(tx, name, payload)),
    sendFor: async (tx, owner, job) => (lost.has(job.name) ? undefined : parts.jobs.sendFor(tx, owner, job)),
  },
});

beforeAll(async () => {
  service = await startTestService(
    { FFMPEG_PATH: await pacedEngine() },
    { now: () => new Date(Date.now() + offset), between: losing },
  );
  clip = await readFile(await makeClip({ seconds: 1 }));
  longClip = await readFile(await makeClip({ seconds: 10 }));
  picture = await sharp({ create: { width: 40, height: 30, channels: 3, background: 'red' } })
    .png()
    .toBuffer();
}, 120_000);
afterAll(() => service?.stop());

/** Moves the service's clock on, and starts what its clock would start. */
async function startAfter(minutes: number, job: 'reconcile' | 'expire-uploads'): Promise<void> {
  offset += minutes * 60_000;
  const { jobs, db } = service.parts;
  await db.transaction((tx) => jobs.send(tx, job, {}));
}

async function pass(minutes: number, job: 'reconcile' | 'expire-uploads' = 'reconcile'): Promise<void> {
  const { jobs } = service.parts;
  await startAfter(minutes, job);
  await eventually(
    () => jobs.hasOpenJob(job, {}),
    (isOpen) => !isOpen,
  );
}

async function uploaded(bytes: Buffer, wishes: object = {}): Promise<string> {
  const started = await openUpload(service, 'ann', wishes);
  expect((await putBytes(started, bytes)).status).toBe(200);
  return started.asset_id;
}

async function completed(bytes: Buffer, wishes: object = {}): Promise<string> {
  const id = await uploaded(bytes, wishes);
  expect((await complete(service, 'ann', id)).status).toBe(200);
  return id;
}

/** Does what sends jobs of this name, and loses them. */
async function withLost<T>(name: JobName, work: () => Promise<T>): Promise<T> {
  lost.add(name);
  return work().finally(() => lost.delete(name));
}

const reasonsOf = async (id: string) =>
  (await timelineOf(service, id))
    .filter(({ type }) => type === 'asset.checked')
    .map(({ details }) => details['reason']);
const statusOf = async (id: string) => (await readAsset(service, 'ann', id)).stream_status;
const jobsOf = (id: string) =>
  rows(
    service.dataDir,
    `select name from pgboss.job where data->>'assetId' = $1 and name in ('encode-asset', 'process-image')`,
    [id],
  );

async function expectReadyOnce(id: string): Promise<void> {
  expect(await settled(service, 'ann', id)).toMatchObject({ stream_status: 'ready', failure: null });
  expect((await eventsOf(service.dataDir, id)).filter((type) => type === 'asset.ready')).toHaveLength(1);
}

describe('work whose job was lost', () => {
  test('an encode is enqueued again after its deadline, and the video becomes ready once', async () => {
    const id = await withLost('encode-asset', () => completed(clip));
    await pass(1);
    expect(await reasonsOf(id)).toEqual([]);
    await pass(2);
    expect(await reasonsOf(id)).toEqual(['not_due']);
    expect([await statusOf(id), await jobsOf(id)]).toEqual(['processing', []]);
    await pass(5);
    expect(await reasonsOf(id)).toEqual(['not_due', 'job_lost']);
    await expectReadyOnce(id);
    expect(
      (await timelineOf(service, id)).find(({ details }) => details['reason'] === 'job_lost'),
    ).toMatchObject({
      source: 'reconcile',
      sentence: expect.stringMatching(/lost.*started it again.*Next check at 20/),
    });
  });

  test('an encode whose report was lost is repeated, and the video becomes ready once', async () => {
    const id = await withLost('deliver-report', async () => {
      const begun = await completed(clip);
      await eventually(
        () => rows(service.dataDir, 'select encoded_try from assets where id = $1', [begun]),
        ([row]) => row?.['encoded_try'] === 1,
      );
      await eventually(
        () => service.parts.jobs.hasOpenJob('encode-asset', { assetId: begun }),
        (isOpen) => !isOpen,
      );
      return begun;
    });
    await pass(10);
    expect(await reasonsOf(id)).toEqual(['job_lost']);
    await expectReadyOnce(id);
    expect(await jobsOf(id)).toHaveLength(2);
  });

  test('an image becomes ready once', async () => {
    const id = await withLost('process-image', () => completed(picture, IMAGE));
    await pass(10);
    await expectReadyOnce(id);
    expect(await reasonsOf(id)).toEqual(['job_lost']);
  });

  test('a second attempt and a restored asset are found too', async () => {
    const [again, restored] = await withLost('encode-asset', async () => {
      const [failed, removed] = [await completed(clip), await completed(clip)];
      expect(await tell(service, 'onprem', { asset_id: failed, status: 'failed' })).toEqual(PROCESSED);
      for (const request of [
        `POST /media/${failed}/retry`,
        `DELETE /media/${removed}?purge=false`,
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

describe('slow work', () => {
  test('is not enqueued twice, neither running nor waiting', async () => {
    const running = await completed(longClip);
    await eventually(
      () => readAsset(service, 'ann', running),
      ({ progress }) => progress > 0,
    );
    const waiting = await completed(clip);
    await pass(10);
    expect([await reasonsOf(running), await reasonsOf(waiting)]).toEqual([
      ['job_under_way'],
      ['job_under_way'],
    ]);
    for (const id of [running, waiting]) {
      await expectReadyOnce(id);
      expect(await jobsOf(id)).toHaveLength(1);
    }
  });

  test('of an external encoder is not enqueued', async () => {
    const { asset_id: id } = await openUpload(service, 'ann');
    expect(await tell(service, 'onprem', { asset_id: id, status: 'processing', progress: 30 })).toEqual(
      PROCESSED,
    );
    await pass(10);
    await pass(60);
    expect(await reasonsOf(id)).toEqual(['encoder_outside', 'encoder_outside']);
    expect([await statusOf(id), await jobsOf(id)]).toEqual(['processing', []]);
    await tell(service, 'onprem', { asset_id: id, status: 'ready' });
    await pass(600);
    expect([await statusOf(id), (await reasonsOf(id)).length]).toEqual(['ready', 2]);
  });

  test('is checked less and less often, and each timeline entry has the next check', async () => {
    const { asset_id: id } = await openUpload(service, 'ann');
    await tell(service, 'onprem', { asset_id: id, status: 'processing' });
    const pauses: number[] = [];
    for (const minutes of [10, 60, 600, 6000]) {
      await pass(minutes);
      pauses.push(
        Math.round(
          (Date.parse(String((await timelineOf(service, id)).at(-1)?.details['next_check_at'])) -
            Date.now() -
            offset) /
            60_000,
        ),
      );
    }
    expect(pauses).toEqual([5, 35, 335, 360]);
  });
});

test('an asset whose check fails does not delay others, and is checked again soon', async () => {
  const [broken, sound] = await withLost(
    'process-image',
    async () => [await completed(picture, IMAGE), await completed(picture, IMAGE)] as const,
  );
  await rows(
    service.dataDir,
    `create function refuse() returns trigger language plpgsql
       as $$ begin raise exception 'this one cannot be written'; end $$`,
  );
  await rows(
    service.dataDir,
    `create trigger refuse before update on assets for each row when (old.id = '${broken}')
       execute function refuse()`,
  );
  await startAfter(10, 'reconcile');
  await expectReadyOnce(sound);
  expect((await eventsOf(service.dataDir, broken)).at(-1)).toBe('asset.processing');
  await rows(service.dataDir, 'drop function refuse cascade');
  await expectReadyOnce(broken);
  await pass(0);
});

test('an upload without bytes or without complete fails at its expiry; an active one does not', async () => {
  const [empty, full] = [(await openUpload(service, 'ann')).asset_id, await uploaded(picture, IMAGE)];
  await pass(23 * 60, 'expire-uploads');
  expect([await statusOf(empty), await statusOf(full)]).toEqual(['pending_upload', 'pending_upload']);
  const later = (await openUpload(service, 'ann')).asset_id;
  await pass(2 * 60, 'expire-uploads');
  for (const id of [empty, full]) {
    expect(await readAsset(service, 'ann', id)).toMatchObject({
      stream_status: 'failed',
      uploaded_at: null,
      failure: { code: 'upload_expired', retryable: true },
    });
    expect((await timelineOf(service, id)).at(-1)).toMatchObject({
      type: 'asset.failed',
      source: 'service',
      sentence: expect.stringContaining('upload_expired'),
    });
  }
  expect(await statusOf(later)).toBe('pending_upload');
});

test('bytes that arrive shortly before expiry can be completed for the full time', async () => {
  const started = await openUpload(service, 'ann', IMAGE);
  await pass(23 * 60, 'expire-uploads');
  expect((await putBytes(started, picture)).status).toBe(200);
  await pass(2 * 60, 'expire-uploads');
  expect(await statusOf(started.asset_id)).toBe('pending_upload');
  expect((await complete(service, 'ann', started.asset_id)).status).toBe(200);
  expect(await settled(service, 'ann', started.asset_id)).toMatchObject({ stream_status: 'ready' });
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
  const kept = await withLost('encode-asset', () => completed(clip));
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
    await withLost('encode-asset', () => pass(minutes));
    const found = await underWay();
    expect(found.map(({ id }) => id)).toEqual(expect.arrayContaining([hosted, outside, kept]));
    expect(found.filter((row) => !row['is_looked_at'] || !row['says_so'])).toEqual([]);
  }
  expect(await reasonsOf(hosted)).toContain('not_configured');
});
