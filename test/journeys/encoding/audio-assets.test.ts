// A user uploads sound: it becomes an asset of kind `audio` with manifests, a file, a waveform and a picture.
import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { makeClip } from '../../support/clips/clips.ts';
import { makeSound } from '../../support/clips/sounds.ts';
import { expectFieldRefused, expectRefusal } from '../../support/http/envelope.ts';
import { type AssetJson, ingest, offer, openUpload } from '../../support/media.ts';
import { asUser, call, eventually, startTestService, type TestService } from '../../support/service.ts';

const AUDIO = { filename: 'song.mp3', content_type: 'audio', mime_type: 'audio/mpeg' };
const ANN = asUser('ann');

let service: TestService;
let song: AssetJson;
beforeAll(async () => {
  service = await startTestService({ VIDEO_EXTRAS: 'storyboard,preview,audio,mp4' });
  const file = await makeSound({ hasCover: true });
  song = await ingest(service, 'ann', { file, fields: { ...AUDIO, visibility: 'public' } });
});
afterAll(() => service.stop());

type Playback = Readonly<Record<string, string | null>>;
const readPlayback = async (id: string): Promise<Playback> =>
  (await call<Playback>(service, `GET /media/${id}/playback`, { headers: ANN })).body.data;

test('the asset tells what the file contains', async () => {
  expect(song).toMatchObject({
    kind: 'audio',
    mime_type: 'audio/mpeg',
    stream_status: 'ready',
    progress: 100,
    provider: 'onprem',
    width: null,
    height: null,
    renditions: [],
    warnings: [],
    media: { container: 'mp3', video: null, photo: null, audio: [{ codec: 'mp3', channels: 1 }] },
  });
  expect(Math.abs(Number(song['duration_ms']) - 3000)).toBeLessThan(80);
  expect(song['placeholder']).toEqual(expect.any(String));
  const list = await call<{ items: AssetJson[] }>(service, 'GET /media?kind=audio', { headers: ANN });
  expect(list.body.data.items.map(({ id }) => id)).toEqual([song.id]);
});

test('every playback URL gives its file; pictures of a video do not exist', async () => {
  const playback = await eventually(
    () => readPlayback(song.id),
    ({ audio }) => audio !== null,
  );
  expect(playback).toMatchObject({ kind: 'audio', mp4: null, storyboard: null, preview: null, captions: [] });
  const types = ['hls', 'dash', 'thumbnail', 'audio', 'waveform', 'image', 'embed'].map(async (name) => {
    const response = await fetch(playback[name] ?? '');
    return [name, response.status, response.headers.get('content-type')?.split(';')[0]];
  });
  expect(await Promise.all(types)).toEqual([
    ['hls', 200, 'application/vnd.apple.mpegurl'],
    ['dash', 200, 'application/dash+xml'],
    ['thumbnail', 200, 'image/jpeg'],
    ['audio', 200, 'audio/mp4'],
    ['waveform', 200, 'application/json'],
    ['image', 200, 'image/jpeg'],
    ['embed', 200, 'text/html'],
  ]);
  const waveform = (await (await fetch(playback['waveform'] ?? '')).json()) as { data: number[] };
  expect(Math.max(...waveform.data)).toBeGreaterThan(50);
  for (const name of ['frame.jpg?t=1', 'video.mp4', 'storyboard.vtt'])
    expect((await fetch((playback['hls'] ?? '').replace('hls.m3u8', name))).status).toBe(404);
});

test('a private one is played with a token, by the waveform too', async () => {
  const file = await makeSound({ container: 'ogg' });
  const { id } = await ingest(service, 'ann', { file, fields: { ...AUDIO, mime_type: 'audio/ogg' } });
  const { waveform } = await readPlayback(id);
  expect((await fetch(waveform ?? '')).status).toBe(200);
  expect((await fetch((waveform ?? '').replace(/~[^/]+\//, ''))).status).toBe(404);
});

test('chapters can be set, and HLS names them', async () => {
  const chapters = [
    { start_ms: 0, title: 'Verse' },
    { start_ms: 1500, title: 'Chorus' },
  ];
  await call(service, `PATCH /media/${song.id}`, { headers: ANN, json: { chapters } });
  const { hls, chapters: url } = await readPlayback(song.id);
  expect(await (await fetch(hls ?? '')).text()).toContain('com.apple.hls.chapters');
  expect(await (await fetch(url ?? '')).text()).toContain('Chorus');
});

describe('what is for videos is refused with its field', () => {
  test('another provider, and another content_type', async () => {
    const open = (fields: object) =>
      call(service, 'POST /media/upload-url', { headers: ANN, json: { ...AUDIO, ...fields } });
    expect(expectRefusal(await open({ provider: 'cdnhost' }), 400).details).toMatchObject({
      field: 'provider',
      reason: 'unsupported_value',
      allowed: ['onprem'],
    });
    expectFieldRefused(await open({ content_type: 'video' }), 'content_type');
  });

  test('a poster, captions and a clip', async () => {
    const poster = { headers: ANN, json: { poster_time_ms: 100 } };
    expectFieldRefused(await call(service, `PATCH /media/${song.id}`, poster), 'poster_time_ms');
    const body = Buffer.from('WEBVTT\n\n00:00.000 --> 00:01.000\nLa la\n');
    const captions = { headers: { ...ANN, 'Content-Type': 'text/vtt' }, body };
    const refused = await call(service, `PUT /media/${song.id}/captions/en`, captions);
    expect(expectRefusal(refused, 409).details).toMatchObject({ reason: 'not_encoded_here' });
    const clip = { headers: ANN, json: { start_ms: 0, end_ms: 1000 } };
    const uncut = await call(service, `POST /media/${song.id}/clip`, clip);
    expect(expectRefusal(uncut, 409).details).toMatchObject({ reason: 'not_video' });
  });
});

test.each([
  ['a video without sound', { clip: { audio: false }, mime_type: 'audio/mp4', code: 'no_audio_track' }],
  ['sound alone', { clip: { more: ['-vn'] }, mime_type: 'video/mp4', code: 'no_video_track' }],
  ['a video', { clip: {}, mime_type: 'audio/mpeg', code: 'type_mismatch' }],
] as const)('%s is refused as another kind: %o', async (_what, { clip, mime_type, code }) => {
  const bytes = await readFile(await makeClip({ seconds: 1, ...clip }));
  const fields = { ...AUDIO, mime_type, content_type: mime_type.slice(0, 5) };
  const { completed } = await offer(service, 'ann', { bytes, fields });
  expect(expectRefusal(completed, 400).details).toMatchObject({ reason: code });
});

test('types have the names that browsers send', async () => {
  const named = ['audio/mp3', 'audio/x-m4a', 'audio/x-wav', 'audio/x-flac', 'audio/opus'];
  const stored = await Promise.all(
    named.map(async (mime_type) => (await openUpload(service, 'ann', { ...AUDIO, mime_type })).asset),
  );
  expect(stored.map(({ mime_type }) => mime_type)).toEqual([
    'audio/mpeg',
    'audio/mp4',
    'audio/wav',
    'audio/flac',
    'audio/ogg',
  ]);
});
