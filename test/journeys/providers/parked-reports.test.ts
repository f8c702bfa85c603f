// A report that arrives before its link is parked, and applied when the link is created (contract B6).
import { randomUUID } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openUpload, readAsset } from '../../support/media.ts';
import { startTestService, type TestService } from '../../support/service.ts';
import {
  deliveriesOf,
  eventsOf,
  LIBRARY,
  linkVideo,
  notProcessed,
  PROCESSED,
  READY,
  tell,
  type Verdict,
} from '../../support/providers/webhooks.ts';

const DAY = 86_400_000;
const HOSTED = ['cdnhost', 'edgehost'] as const;

let service: TestService;
let offset = 0;
beforeAll(async () => {
  service = await startTestService(
    {
      MEDIARY_ROLE: 'api',
      CDNHOST_STREAM_LIBRARY_ID: String(LIBRARY),
      CDNHOST_STREAM_HOSTNAME: 'vz-1.example',
      EDGEHOST_CUSTOMER_SUBDOMAIN: 'customer-x.example',
      EDGEHOST_WEBHOOK_TOLERANCE_S: '0',
    },
    { now: () => new Date(Date.now() + offset) },
  );
});
afterAll(() => service?.stop());

const sayCdnhost = (guid: string, status: number) =>
  tell(service, 'cdnhost', { VideoLibraryId: LIBRARY, VideoGuid: guid, Status: status });

describe.each(HOSTED)('a report of %s before its link', (provider) => {
  test('is parked, also when repeated, and the link returns a ready asset', async () => {
    const videoId = randomUUID();
    for (let time = 0; time < 3; time++)
      expect(await tell(service, provider, READY[provider](videoId))).toEqual(notProcessed('parked'));
    const { asset } = await linkVideo(service, { provider, provider_video_id: videoId });
    expect(asset).toMatchObject({
      stream_status: 'ready',
      progress: 100,
      playback: { hls: expect.stringContaining(videoId) },
    });
    expect(await readAsset(service, 'ann', asset.id)).toEqual(asset);
    expect(await tell(service, provider, READY[provider](videoId))).toEqual(PROCESSED);
  });

  test('is recorded with its result, and appears in the timeline once', async () => {
    const videoId = randomUUID();
    for (let time = 0; time < 2; time++) await tell(service, provider, READY[provider](videoId));
    const { asset_id: id } = await linkVideo(service, { provider, provider_video_id: videoId });
    expect((await deliveriesOf(service, id)).map(({ processed, reason }) => ({ processed, reason }))).toEqual(
      [
        { processed: true, reason: 'applied' },
        { processed: true, reason: 'repeat' },
      ],
    );
    expect(await eventsOf(service, id)).toEqual(['asset.created', 'asset.playable', 'asset.ready']);
  });

  test('is applied only to its own provider and video', async () => {
    const videoId = randomUUID();
    await tell(service, provider, READY[provider](videoId));
    const other = provider === 'cdnhost' ? 'edgehost' : 'cdnhost';
    for (const link of [
      { provider: other, provider_video_id: videoId },
      { provider, provider_video_id: `${videoId}0` },
      { provider, provider_video_id: videoId.toUpperCase() },
    ] as const) {
      expect((await linkVideo(service, link)).asset.stream_status).toBe('pending_upload');
    }
    expect((await openUpload(service, 'ann', { provider_video_id: videoId })).asset.stream_status).toBe(
      'pending_upload',
    );
    expect((await linkVideo(service, { provider, provider_video_id: videoId })).asset.stream_status).toBe(
      'ready',
    );
  });

  test.each([
    [-6.9, 'ready'],
    [-7.1, 'pending_upload'],
    [-30, 'pending_upload'],
  ])('of %d days leaves the asset %s', async (days, expected) => {
    const videoId = randomUUID();
    offset = days * DAY;
    await tell(service, provider, READY[provider](videoId)).finally(() => {
      offset = 0;
    });
    expect((await linkVideo(service, { provider, provider_video_id: videoId })).asset.stream_status).toBe(
      expected,
    );
  });
});

describe('several reports before one link', () => {
  test.each([
    [[7, 3, 7], 'ready'],
    [[3, 5], 'ready'],
    [[5, 7, 5], 'failed'],
    [[7, 7], 'processing'],
    [[0, 6, 99], 'pending_upload'],
  ])('%j end as %s', async (statuses, expected) => {
    const guid = randomUUID();
    for (const status of statuses) await sayCdnhost(guid, status);
    const { asset } = await linkVideo(service, { provider: 'cdnhost', provider_video_id: guid });
    expect(asset.stream_status).toBe(expected);
  });

  test('of another library are not parked', async () => {
    const guid = randomUUID();
    await tell(service, 'cdnhost', { VideoLibraryId: LIBRARY + 1, VideoGuid: guid, Status: 3 });
    expect(
      (await linkVideo(service, { provider: 'cdnhost', provider_video_id: guid })).asset.stream_status,
    ).toBe('pending_upload');
  });
});

test('1 000 links that race with their reports, 25 at a time, lose no report', async () => {
  const waiting = Array.from({ length: 1_000 }, (_, index) => ({
    provider: HOSTED[index % 2] as (typeof HOSTED)[number],
    headStartMs: index % 7,
  })).values();
  const seen: Verdict[] = [];
  const lane = async () => {
    for (const { provider, headStartMs } of waiting) {
      const videoId = randomUUID();
      const linking = linkVideo(service, { provider, provider_video_id: videoId });
      const [{ asset_id: id }, verdict] = await Promise.all([
        linking,
        setTimeout(headStartMs).then(() => tell(service, provider, READY[provider](videoId))),
      ]);
      expect((await readAsset(service, 'ann', id)).stream_status).toBe('ready');
      seen.push(verdict);
    }
  };
  await Promise.all(Array.from({ length: 25 }, lane));
  for (const verdict of [PROCESSED, notProcessed('parked')]) expect(seen).toContainEqual(verdict);
  for (const verdict of seen) expect([PROCESSED, notProcessed('parked')]).toContainEqual(verdict);
});
