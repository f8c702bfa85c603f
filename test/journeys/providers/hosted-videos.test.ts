// Videos of hosted providers: upload and playback go directly to the provider (contract B4, B5).
import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ffmpegPath, makeClip } from '../../support/clips/clips.ts';
import { expectRefusal } from '../../support/http/envelope.ts';
import {
  askUpload,
  HOSTED,
  type Hosts,
  sendBytes,
  startHosts,
  timelineOf,
  uploadTo,
} from '../../support/providers/hosted.ts';
import { type AssetJson, readAsset, settled, type Started, VIDEO } from '../../support/media.ts';
import { asService, asUser, call, eventually } from '../../support/service.ts';
import { uploadsOf } from '../../support/postgres/upload-rows.ts';

let hosts: Hosts;
let clip: Uint8Array;
beforeAll(async () => {
  clip = await readFile(await makeClip({ seconds: 2 }));
  hosts = await startHosts({
    ffmpegPath: await ffmpegPath(),
    cdnhost: { tokenAuthKey: 'zone-token-key' },
    edgehost: { storageMinutes: 1000 },
  });
});
afterAll(() => hosts?.stop());

type Playback = {
  hls: string | null;
  dash: string | null;
  thumbnail: string | null;
  expires_at: string | null;
};

const ask = <T>(methodAndPath: string) => call<T>(hosts.service, methodAndPath, { headers: asUser('ann') });

describe.each(HOSTED)('a private video at %s', (provider) => {
  let id: string;
  let ready: AssetJson;

  test('is created and uploaded at the provider, and becomes ready by webhooks', async () => {
    const {
      status,
      body: { data: started },
    } = await askUpload(hosts.service, provider);
    expect(status).toBe(200);
    id = started.asset_id;
    expect(started.asset).toMatchObject({
      provider,
      provider_video_id: expect.any(String),
      stream_status: 'pending_upload',
    });
    expect(started.upload_url).toBe(started.upload?.url);
    expect(started.upload_url).toContain(hosts.sims[provider].url);
    expect(expectRefusal(await ask(`POST /media/${id}/complete`), 400).details).toEqual({
      reason: 'not_uploaded',
    });
    const hosted = { protocol: 'hosted', is_finished: false };
    expect(await uploadsOf(hosts.service, id)).toMatchObject([hosted]);
    await sendBytes(started.upload, clip);
    expect((await ask<AssetJson>(`POST /media/${id}/complete`)).status).toBe(200);
    expect(await uploadsOf(hosts.service, id)).toMatchObject([{ ...hosted, is_finished: true }]);
    ready = await settled(hosts.service, 'ann', id);
    expect(ready).toMatchObject({
      stream_status: 'ready',
      progress: 100,
      failure: null,
      playback: { hls: expect.stringContaining(String(ready.provider_video_id)) },
    });
    expect(JSON.stringify(ready.playback)).not.toMatch(/token/i);
  });

  test('plays from URLs that are signed for the provider only', async () => {
    const {
      hls,
      thumbnail,
      expires_at: expires,
    } = (await ask<Playback>(`GET /media/${id}/playback`)).body.data;
    expect(Date.parse(expires ?? '')).toBeGreaterThan(Date.now());
    const manifest = await fetch(hls ?? '');
    expect(manifest.status).toBe(200);
    expect(await manifest.text()).toContain('#EXTM3U');
    expect((await fetch(thumbnail ?? '')).status).toBe(200);
    expect((await fetch((ready.playback as Playback).hls ?? '')).status).toBeGreaterThanOrEqual(400);
  });

  test('redirects from the fixed path to the provider if the token is valid', async () => {
    expect((await fetch(`${hosts.service.url}/playback/${id}/hls.m3u8`)).status).toBe(404);
    expect((await fetch(`${hosts.service.url}/playback/${id}/hls.m3u8?token=wrong`)).status).toBe(401);
  });

  test('plays without a token when it is public', async () => {
    expect(
      (
        await call(hosts.service, `PATCH /media/${id}`, {
          headers: asUser('ann'),
          json: { visibility: 'public' },
        })
      ).status,
    ).toBe(200);
    await eventually(
      async () => {
        const redirect = await fetch(`${hosts.service.url}/playback/${id}/hls.m3u8`, { redirect: 'manual' });
        expect([redirect.status, redirect.headers.get('cache-control')]).toEqual([302, 'no-store']);
        return (await fetch(redirect.headers.get('location') ?? '')).status;
      },
      (status) => status === 200,
    );
  });

  test('has a timeline of plain sentences', async () => {
    const timeline = await timelineOf(hosts.service, id);
    expect(timeline.map(({ type }) => type)).toEqual(
      expect.arrayContaining([
        'asset.created',
        'asset.processing',
        'asset.playable',
        'asset.ready',
        'asset.updated',
      ]),
    );
    for (const { sentence } of timeline) expect(sentence).toMatch(/^[A-Z].*\.$/);
  });

  test('is deleted at the provider, and a late webhook does not restore it', async () => {
    const videoId = String(ready.provider_video_id);
    expect((await ask(`DELETE /media/${id}`)).status).toBe(200);
    await eventually(
      async () => JSON.stringify(hosts.sims[provider].videos()),
      (videos) => !videos.includes(videoId),
    );
    expect((await ask(`GET /media/${id}`)).status).toBe(404);
  });
});

test('cdnhost offers the original for download, edgehost prepares an MP4', async () => {
  type Download = { url: string | null; state: string; retry_after_s: number | null; filename: string };
  const [atCdnhost, atEdgehost] = await Promise.all(
    HOSTED.map(async (provider) => {
      const { id } = await uploadTo(hosts.service, provider, clip);
      await settled(hosts.service, 'ann', id);
      return () => ask<Download>(`GET /media/${id}/download-url`);
    }),
  );
  const original = (await atCdnhost?.())?.body.data;
  expect(original).toMatchObject({ state: 'ready', filename: 'clip.mp4' });
  const bytes = await (await fetch(original?.url ?? '')).arrayBuffer();
  expect(Buffer.from(bytes).equals(Buffer.from(clip))).toBe(true);

  const first = await atEdgehost?.();
  expect(first?.status).toBe(200);
  expect(first?.body.data).toEqual({
    url: null,
    state: 'preparing',
    expires_at: null,
    filename: 'clip.mp4',
    retry_after_s: 10,
  });
  expect(first?.headers.get('retry-after')).toBe('10');
  const { url } = await eventually(
    async () => (await atEdgehost?.())?.body.data as Download,
    ({ state }) => state === 'ready',
  );
  const mp4 = await fetch(url ?? '');
  expect([mp4.status, mp4.headers.get('content-disposition')]).toEqual([
    200,
    'attachment; filename="clip.mp4"',
  ]);
  expect((await fetch((url ?? '').replace(/ey[\w.-]+/, '0'.repeat(32)))).status).toBe(404);
});

test('a large file goes to edgehost by a stock tus client, in chunks as its target says', async () => {
  const free = Buffer.alloc(200_000_001 - clip.length);
  free.writeUInt32BE(free.length);
  free.write('free', 4);
  const { id } = await uploadTo(hosts.service, 'edgehost', Buffer.concat([clip, free]));
  expect(await settled(hosts.service, 'ann', id)).toMatchObject({ stream_status: 'ready' });
  const patches = hosts.sims.edgehost.requests().filter(({ route }) => route === 'tus-patch');
  expect(patches).toHaveLength(4);
});

describe('the storage that an upload to edgehost reserves', () => {
  const minutesUsed = async (): Promise<number> => {
    const { environment } = hosts.sims;
    const account = `${environment['EDGEHOST_API_URL']}/accounts/${environment['EDGEHOST_ACCOUNT_ID']}`;
    const headers = { authorization: `Bearer ${environment['EDGEHOST_STREAM_API_TOKEN']}` };
    const answer = await fetch(`${account}/stream/storage-usage`, { headers });
    return ((await answer.json()) as { result: { totalStorageMinutes: number } }).result.totalStorageMinutes;
  };
  const reserve = async (fields: object) => {
    const before = await minutesUsed();
    const { body } = await askUpload(hosts.service, 'edgehost', fields);
    return { id: body.data.asset_id, minutes: Math.round((await minutesUsed()) - before) };
  };

  test('follows the announced duration, and is released with the asset or the upload', async () => {
    const before = await minutesUsed();
    const [byDefault, announced] = [await reserve({}), await reserve({ duration_ms: 600_000 })];
    expect([byDefault.minutes, announced.minutes]).toEqual([60, 10]);
    expect((await reserve({ duration_ms: 600_000, max_duration_s: 36_000 })).minutes).toBe(10);
    await ask(`DELETE /media/${byDefault.id}`);
    await hosts.reconcileIn(25 * 60);
    expect(await readAsset(hosts.service, 'ann', announced.id)).toMatchObject({
      failure: { code: 'upload_expired' },
    });
    await eventually(minutesUsed, (minutes) => Math.round(minutes) === Math.round(before));
  });

  test('is a clear failure while the account has too little, and the upload can be retried', async () => {
    const open = () =>
      call<Started>(hosts.service, 'POST /media/upload-url?expand=asset', {
        headers: asService,
        json: {
          ...VIDEO,
          size_bytes: 5000,
          provider: 'edgehost',
          owner_user_id: 'ann',
          max_duration_s: 36_000,
        },
      });
    const fits = (await open()).body.data.asset_id;
    const refused = await open();
    expect(expectRefusal(refused, 503)).toMatchObject({
      error_code: 'UNAVAILABLE',
      details: { reason: 'provider_quota' },
    });
    expect(refused.headers.get('retry-after')).toBe('300');
    const [failed] = (await ask<{ items: AssetJson[] }>('GET /media?limit=1')).body.data.items;
    expect(failed).toMatchObject({
      stream_status: 'failed',
      failure: { code: 'provider_quota', retryable: true },
    });
    await ask(`DELETE /media/${fits}`);
    await eventually(minutesUsed, (minutes) => minutes < 100);
    expect((await ask(`POST /media/${failed?.id}/retry?expand=asset`)).body.data).toMatchObject({
      asset: { stream_status: 'pending_upload' },
      upload_url: expect.any(String),
    });
  });
});
