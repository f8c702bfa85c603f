// A real video becomes a playable stream: every rendition decodes completely, with sound in sync.
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { makeClip } from '../../support/clips/clips.ts';
import { type AssetJson, complete, openUpload, putBytes, settled } from '../../support/media.ts';
import {
  beeps,
  CLEAN,
  decode,
  endOf,
  flashes,
  keyframes,
  packets,
  playlistsOf,
} from '../../support/clips/picture-and-sound.ts';
import { type Answer, asUser, call, startTestService, type TestService } from '../../support/service.ts';

const SECONDS = [0, 1, 2, 3, 4, 5];
const TOLERANCE = 0.04;
const HEIGHTS = [480, 360, 240];

type Addresses = { hls: string; dash: string; thumbnail: string };

let service: TestService;
let bytes: Buffer;
let opened: AssetJson;
let stored: Answer<AssetJson>;
let completed: Answer<AssetJson>;
let asset: AssetJson;
let addresses: Addresses;

beforeAll(async () => {
  service = await startTestService();
  bytes = await readFile(await makeClip({ seconds: 6, width: 854, height: 480, flashAndBeep: true }));
  const started = await openUpload(service, 'ann', {
    size_bytes: bytes.length,
    title: 'Flashes',
    visibility: 'public',
  });
  opened = started.asset;
  stored = await putBytes(started, bytes);
  completed = await complete(service, 'ann', opened.id);
  asset = await settled(service, 'ann', opened.id);
  addresses = (await call<Addresses>(service, `GET /media/${asset.id}/playback`, { headers: asUser('ann') }))
    .body.data;
});
afterAll(() => service.stop());

describe('the asset at each step', () => {
  test('is pending before the upload', () => {
    expect(opened).toMatchObject({
      kind: 'video',
      owner_user_id: 'ann',
      provider: 'onprem',
      provider_video_id: null,
      stream_status: 'pending_upload',
      progress: 0,
      size_bytes: null,
      checksum_sha256: null,
      uploaded_at: null,
      playback: null,
      playable_at: null,
      ready_at: null,
      renditions: [],
      warnings: [],
      failure: null,
      media: null,
      placeholder: null,
    });
  });

  test('shows size and digest after the upload', () => {
    expect(stored.status).toBe(200);
    expect(stored.body).toMatchObject({ success: true, code: 200 });
    expect(stored.body.data).toMatchObject({
      id: opened.id,
      stream_status: 'pending_upload',
      ...facts(),
      uploaded_at: expect.any(String),
    });
  });

  test('is processing after complete, with size and duration', () => {
    expect(completed.status).toBe(200);
    expect(completed.body.data).toMatchObject({
      stream_status: 'processing',
      ...facts(),
      width: 854,
      height: 480,
      failure: null,
    });
    expectSixSeconds(completed.body.data);
  });

  test('is ready with every member set', () => {
    expect(asset).toMatchObject({
      stream_status: 'ready',
      progress: 100,
      failure: null,
      warnings: [],
      title: 'Flashes',
      visibility: 'public',
      version: 1,
      ...facts(),
      width: 854,
      height: 480,
      placeholder: expect.stringMatching(/^[\w+/]{4,60}={0,2}$/),
      media: {
        container: 'mov',
        video: { codec: 'h264', fps: 30, hdr: false, bit_depth: 8 },
        audio: [{ codec: 'aac', channels: 1, language: null, loudness_lufs: expect.any(Number) }],
      },
    });
    expectSixSeconds(asset);
    expect(asset['renditions']).toEqual(
      HEIGHTS.map((height) => ({
        height,
        codec: null,
        dynamic_range: null,
        width: expect.any(Number),
        state: 'ready',
        bitrate: expect.any(Number),
      })),
    );
    const moments = ['created_at', 'uploaded_at', 'playable_at', 'ready_at', 'updated_at'].map((name) =>
      Date.parse(String(asset[name])),
    );
    expect(moments).toEqual([...moments].sort((a, b) => a - b));
  });
});

describe('the stream', () => {
  test('has URLs that a player can use as they are', async () => {
    expect(addresses).toEqual({
      kind: 'video',
      stream_status: 'ready',
      ...(asset['playback'] as object),
      mp4: null,
      audio: null,
      storyboard: null,
      encryption: null,
      preview: null,
      chapters: null,
      captions: [],
      expires_at: null,
      image: expect.stringContaining(`/playback/${asset.id}/image?v=`),
      extras_pending: false,
      frame: `${service.url}/playback/${asset.id}/frame.jpg`,
      embed: `${service.url}/playback/${asset.id}/embed`,
    });
    expect(addresses.hls).toBe(`${service.url}/playback/${asset.id}/hls.m3u8`);
    expect(addresses.dash).toBe(`${service.url}/playback/${asset.id}/dash.mpd`);
    expect(addresses.thumbnail).toBe(`${service.url}/playback/${asset.id}/thumb.jpg`);
  });

  test('has a valid thumbnail with the same aspect ratio', async () => {
    const picture = sharp(await (await fetch(addresses.thumbnail)).arrayBuffer(), { failOn: 'warning' });
    expect(await picture.metadata()).toMatchObject({ format: 'jpeg', width: 854, height: 480 });
    await picture.stats();
  });

  test('decodes completely in every rendition, over HLS and DASH', async () => {
    const { pictures, sounds } = await playlistsOf(addresses.hls);
    expect([pictures.length, sounds.length]).toEqual([HEIGHTS.length, 1]);
    for (const url of [...pictures, ...sounds, addresses.hls, addresses.dash])
      expect(await decode(url), url).toEqual(CLEAN);
  });

  test('has aligned segments in all renditions', async () => {
    const { pictures } = await playlistsOf(addresses.hls);
    const [first, ...others] = await Promise.all(pictures.map((url) => keyframes({ url, stream: 'v:0' })));
    expect(first?.length).toBeGreaterThan(1);
    for (const other of others) expect(other).toEqual(first);
  });

  test('has the duration of the source', async () => {
    const { pictures, sounds } = await playlistsOf(addresses.hls);
    const tracks = [
      ...pictures.map((url) => ({ url, stream: 'v:0' })),
      ...sounds.map((url) => ({ url, stream: 'a:0' })),
    ];
    for (const track of tracks) {
      const [start, end] = [(await packets(track))[0]?.at, await endOf(track)];
      expect([start, end], track.url).toEqual([expect.closeTo(0, 1), expect.closeTo(6, 1)]);
    }
  });

  test('keeps picture and sound in sync in every rendition of both manifests', async () => {
    for (const url of [addresses.hls, addresses.dash]) {
      expectNear(await beeps({ url, stream: 'a:0' }));
      for (const rung of HEIGHTS.keys()) expectNear(await flashes({ url, stream: `v:${rung}` }));
    }
  });
});

const facts = () => ({
  size_bytes: bytes.length,
  checksum_sha256: createHash('sha256').update(bytes).digest('hex'),
});

const expectSixSeconds = (asset: AssetJson): void =>
  expect(Math.abs(Number(asset['duration_ms']) - 6000)).toBeLessThanOrEqual(100);

function expectNear(moments: readonly number[]): void {
  expect(
    moments.map((moment, index) => Math.abs(moment - (SECONDS[index] ?? NaN)) <= TOLERANCE),
    moments.join(' '),
  ).toEqual(SECONDS.map(() => true));
}
