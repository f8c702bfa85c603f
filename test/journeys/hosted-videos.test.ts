// Videos of hosted providers: upload and playback go directly to the provider (contract B4, B5).
import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ffmpegPath, makeClip } from '../support/clips.ts';
import { expectRefusal } from '../support/envelope.ts';
import { askUpload, HOSTED, type Hosts, sendBytes, startHosts, timelineOf } from '../support/hosted.ts';
import { type AssetJson, settled } from '../support/media.ts';
import { asUser, call, eventually } from '../support/service.ts';

let hosts: Hosts;
let clip: Uint8Array;
beforeAll(async () => {
  clip = await readFile(await makeClip({ seconds: 2 }));
  hosts = await startHosts({ ffmpegPath: await ffmpegPath(), cdnhost: { tokenAuthKey: 'zone-token-key' } });
}, 180_000);
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
    await sendBytes(started.upload as never, clip);
    expect((await ask<AssetJson>(`POST /media/${id}/complete`)).status).toBe(200);
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
    expect((await fetch((ready.playback as unknown as Playback).hls ?? '')).status).toBeGreaterThanOrEqual(
      400,
    );
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
    const told = await timelineOf(hosts.service, id);
    expect(told.map(({ type }) => type)).toEqual(
      expect.arrayContaining([
        'asset.created',
        'asset.processing',
        'asset.playable',
        'asset.ready',
        'asset.updated',
      ]),
    );
    for (const { sentence } of told) expect(sentence).toMatch(/^[A-Z].*\.$/);
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

test('cdnhost offers the original for download, edgehost does not', async () => {
  const opened = (await askUpload(hosts.service, 'cdnhost')).body.data;
  await sendBytes(opened.upload as never, clip);
  await ask(`POST /media/${opened.asset_id}/complete`);
  await settled(hosts.service, 'ann', opened.asset_id);
  const { url } = (await ask<{ url: string }>(`GET /media/${opened.asset_id}/download-url`)).body.data;
  expect(Buffer.from(await (await fetch(url)).arrayBuffer()).equals(Buffer.from(clip))).toBe(true);
  const other = (await askUpload(hosts.service, 'edgehost')).body.data;
  await sendBytes(other.upload as never, clip);
  await ask(`POST /media/${other.asset_id}/complete`);
  await settled(hosts.service, 'ann', other.asset_id);
  expect(expectRefusal(await ask(`GET /media/${other.asset_id}/download-url`), 404).details).toEqual({
    reason: 'no_download',
  });
});
