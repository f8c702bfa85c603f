// Private videos with encrypted segments: what players get, that it decrypts to the encoded bytes, and that
// ffmpeg plays it by its URL.
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { checkHls } from '../../support/playback/check-hls.ts';
import { ffmpegPath, makeClip } from '../../support/clips/clips.ts';
import {
  bytesAt,
  decryptSegment,
  firstTrack,
  fixedUrl,
  FOLDER,
  nameOf,
  OWNER,
  playbackOf,
  playlistsIn,
  readTrack,
  rootOf,
  statusesAt,
  storedBytes,
  textAt,
  tracksOf,
} from '../../support/playback/encrypted-video.ts';
import { type AssetJson, ingest, offer, readAsset, settled } from '../../support/media.ts';
import { CLEAN, decode } from '../../support/clips/picture-and-sound.ts';
import { readHls } from '../../support/playback/served-manifests.ts';
import { asUser, call, eventually, startTestService, type TestService } from '../../support/service.ts';

const SECONDS = 9;

let service: TestService;
let asset: AssetJson;
beforeAll(async () => {
  service = await startTestService({
    SEGMENT_ENCRYPTION: 'private',
    VIDEO_EXTRAS: 'storyboard,preview,audio,mp4',
  });
  asset = await ingest(service, OWNER, { file: await makeClip({ seconds: SECONDS }) });
  await eventually(
    () => playbackOf(service, asset),
    ({ storyboard }) => storyboard !== null,
  );
});
afterAll(() => service.stop());

test('each track has a key that decrypts its segments to the encoded bytes', async () => {
  const tracks = await tracksOf(service, asset);
  expect(tracks.length).toBeGreaterThan(1);
  const keys = new Set<string>();
  for (const track of tracks) {
    const key = await bytesAt(track.key);
    expect(key).toHaveLength(16);
    keys.add(key.toString('hex'));
    expect(await bytesAt(track.init)).toEqual(await storedBytes(service, asset, nameOf(track.init)));
    expect(track.segments.length).toBeGreaterThan(1);
    for (const [index, url] of track.segments.entries()) {
      const ciphertext = await bytesAt(url);
      expect(ciphertext.includes('mdat'), url).toBe(false);
      const decrypted = decryptSegment(ciphertext, key, track.firstSequence + index);
      expect(decrypted.equals(await storedBytes(service, asset, nameOf(url))), url).toBe(true);
    }
  }
  expect(keys.size).toBe(tracks.length);
});

test('the playlists have no violations, and the init segments precede the keys', async () => {
  const root = await rootOf(service, asset);
  const multivariant = await textAt(`${root}hls.m3u8`);
  expect(multivariant).not.toContain('I-FRAME');
  for (const path of new Set(playlistsIn(multivariant))) {
    const { text } = await readTrack(`${root}${path}`);
    expect(text.indexOf('#EXT-X-MAP')).toBeLessThan(text.indexOf('#EXT-X-KEY'));
  }
  expect(checkHls(await readHls(`${root}hls.m3u8`))).toEqual([]);
});

test('ffmpeg plays the URL alone, to the end', async () => {
  const { hls } = await playbackOf(service, asset);
  expect(await decode(hls ?? '')).toEqual(CLEAN);
  const { stderr } = await promisify(execFile)(ffmpegPath(), [
    ...['-i', hls ?? '', '-map', '0'],
    ...['-f', 'null', '-'],
  ]);
  const times = [...stderr.matchAll(/time=(\d+):(\d+):([\d.]+)/g)].map(
    ([, hours, minutes, seconds]) => Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds),
  );
  expect(Math.abs((times.at(-1) ?? 0) - SECONDS)).toBeLessThan(0.1);
});

test('HLS and pictures are offered; DASH and whole files are not', async () => {
  expect(await playbackOf(service, asset)).toMatchObject({
    encryption: 'aes-128',
    dash: null,
    mp4: null,
    audio: null,
    storyboard: expect.stringContaining('/storyboard.vtt'),
    preview: expect.stringContaining('/preview.webp'),
  });
  expect((await readAsset(service, OWNER, asset.id))['playback']).toMatchObject({
    hls: fixedUrl(service, asset, 'hls.m3u8'),
    dash: null,
  });
  const root = await rootOf(service, asset);
  const [sprite = ''] = /^[\w/-]+\.jpg/m.exec(await textAt(`${root}storyboard.vtt`)) ?? [];
  const pictures = ['thumb.jpg', 'preview.webp', 'frame.jpg?t=1', 'image?v=1', sprite];
  expect(await statusesAt(pictures.map((path) => `${root}${path}`))).toEqual(pictures.map(() => 200));
});

test('the owner downloads the original as before', async () => {
  const { body } = await call<{ url: string }>(service, `GET /media/${asset.id}/download-url`, {
    headers: asUser(OWNER),
  });
  expect((await bytesAt(body.data.url)).includes('mdat')).toBe(true);
});

test('the embed page plays the same URL', async () => {
  const { embed, hls } = await playbackOf(service, asset);
  const source = /<mediary-player[^>]* src="([^"]+)"/.exec(await textAt(embed ?? ''))?.[1] ?? '';
  expect(nameOf(new URL(source, embed ?? '').href)).toBe(nameOf(hls ?? ''));
  expect(await textAt(new URL(source, embed ?? '').href)).toBe(await textAt(hls ?? ''));
});

test('captions are plain, and named by the same playlist', async () => {
  const { status } = await call(service, `PUT /media/${asset.id}/captions/en`, {
    headers: { ...asUser(OWNER), 'content-type': 'text/vtt' },
    body: Buffer.from('WEBVTT\n\n00:00.000 --> 00:01.000\nHello\n'),
  });
  expect(status).toBe(200);
  const root = await rootOf(service, asset);
  const multivariant = await textAt(`${root}hls.m3u8`);
  expect(multivariant).toContain('URI="captions/en.m3u8"');
  expect(checkHls(await readHls(`${root}hls.m3u8`))).toEqual([]);
  const list = await textAt(`${root}captions/en.m3u8`);
  expect(list).not.toContain('EXT-X-KEY');
  const [file = ''] = /^[^#\n].*$/m.exec(list) ?? [];
  expect(await textAt(new URL(file, `${root}captions/`).href)).toContain('Hello');
  expect((await readTrack(`${root}${playlistsIn(multivariant)[0]}`)).key).toMatch(/\.key$/);
});

test('a video plays encrypted while it is being encoded', async () => {
  const file = await makeClip({ seconds: 10, width: 854, height: 480, container: 'webm' });
  const growing = await offer(service, OWNER, {
    bytes: await readFile(file),
    fields: { mime_type: 'video/webm', filename: 'a.webm' },
  });
  await eventually(
    () => playbackOf(service, growing),
    ({ hls }) => hls !== null,
  );
  const early = await firstTrack(service, growing);
  const [ciphertext, key] = [await bytesAt(early.segment), await bytesAt(early.key)];
  expect(decryptSegment(ciphertext, key, early.firstSequence).includes('mdat')).toBe(true);
  const root = await rootOf(service, growing);
  const refused = ['dash.mpd', `early-${FOLDER}.mpd`, `${FOLDER}/${nameOf(early.segment)}`];
  expect(await statusesAt(refused.map((path) => `${root}${path}`))).toEqual([404, 404, 404]);
  await settled(service, OWNER, growing.id);
  const complete = await readTrack(early.url.replace('-early', ''));
  expect(complete.text).toContain('#EXT-X-ENDLIST');
  expect(complete.segments.slice(0, early.segments.length)).toEqual(early.segments);
  expect(await decode(`${root}hls.m3u8`)).toEqual(CLEAN);
});
