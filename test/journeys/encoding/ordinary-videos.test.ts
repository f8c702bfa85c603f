// Videos of shops, cameras and editing programs: cover pictures, late timestamps, studio codecs, uneven
// lengths.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type ClipOptions, makeClip } from '../../support/clips/clips.ts';
import { type AssetJson, ingest } from '../../support/media.ts';
import { CLEAN, decode, playlistsOf } from '../../support/clips/picture-and-sound.ts';
import { addCoverArt, delayClock } from '../../support/clips/remux.ts';
import { startTestService, type TestService } from '../../support/service.ts';

let service: TestService;
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'mediary-ordinary-'));
  service = await startTestService();
});
afterAll(async () => {
  await service.stop();
  await rm(folder, { recursive: true, force: true });
});

const MIMES = { mp4: 'video/mp4', mov: 'video/quicktime', mkv: 'video/x-matroska' } as const;
type Playback = { readonly hls: string; readonly dash: string };

async function upload(file: string): Promise<AssetJson & { readonly playback: Playback }> {
  const mime = MIMES[file.slice(file.lastIndexOf('.') + 1) as keyof typeof MIMES];
  const asset = await ingest(service, 'ann', { file, fields: { visibility: 'public', mime_type: mime } });
  expect(asset).toMatchObject({ stream_status: 'ready', failure: null });
  return asset as AssetJson & { readonly playback: Playback };
}

async function expectPlays(file: string, seconds = 2): Promise<AssetJson> {
  const asset = await upload(file);
  expect(Math.abs(Number(asset['duration_ms']) - seconds * 1000)).toBeLessThanOrEqual(100);
  expect(await decode(asset.playback.hls)).toEqual(CLEAN);
  return asset;
}

const read = async (url: string): Promise<string> => (await fetch(url)).text();
const numbersOf = (text: string, pattern: RegExp): number[] =>
  [...text.matchAll(pattern)].map(([, value]) => Number(value));

describe('a video plays', () => {
  test.each(['mp4', 'mkv'] as const)('with a PNG cover in %s', async (container) => {
    await expectPlays(await addCoverArt(await makeClip({ container }), folder));
  });
  test('whose timestamps start at ten seconds', async () => {
    // The last packet of this sound ends 16 ms after the picture, which the claim of the container leaves
    // out.
    await expectPlays(await delayClock(await makeClip({ seconds: 6 }), folder), 6);
  });
  test.each<[string, ClipOptions]>([
    ['sound in 24-bit PCM', { container: 'mov', more: ['-c:a', 'pcm_s24be'] }],
    ['sound in 32-bit PCM', { container: 'mov', more: ['-c:a', 'pcm_s32le'] }],
    ['sound in µ-law', { container: 'mov', more: ['-c:a', 'pcm_mulaw'] }],
    ['sound in DTS', { container: 'mkv', more: ['-c:a', 'dca', '-strict', '-2', '-ac', '2'] }],
    ['sound in TrueHD', { container: 'mkv', more: ['-c:a', 'truehd', '-strict', '-2'] }],
    [
      'a picture in DNxHR',
      {
        container: 'mov',
        more: ['-c:v', 'dnxhd', '-profile:v', 'dnxhr_lb', '-pix_fmt', 'yuv422p', '-c:a', 'pcm_s16le'],
      },
    ],
  ])('with %s', async (_, options) => {
    const asset = await expectPlays(await makeClip(options));
    expect(asset).toMatchObject({ warnings: [] });
    expect((await playlistsOf((asset['playback'] as Playback).hls)).sounds).toHaveLength(1);
  });
  test.each<[string, string, readonly string[]]>([
    ['of a codec that no decoder is allowed for', 'wmav2', ['-c:a', 'wmav2']],
    ['whose every packet is damaged', 'ac3', ['-c:a', 'ac3', '-bsf:a', 'noise=amount=1']],
  ])('without its sound %s, and a warning names the codec', async (_, codec, more) => {
    const asset = await expectPlays(await makeClip({ container: 'mkv', more }));
    expect(asset['warnings']).toEqual([
      { code: 'audio_unsupported', message: expect.stringContaining(`(${codec})`) },
    ]);
    expect((await playlistsOf((asset['playback'] as Playback).hls)).sounds).toEqual([]);
  });
  test('with the first sound track that can be decoded', async () => {
    const sounds = ['-map', '0:v', '-map', '1:a', '-map', '1:a', '-c:a:0', 'wmav2', '-c:a:1', 'aac'];
    const asset = await expectPlays(await makeClip({ container: 'mkv', more: sounds }));
    expect(asset).toMatchObject({
      warnings: [{ code: 'multiple_audio_tracks' }, { code: 'audio_tracks_dropped' }],
    });
    expect((await playlistsOf((asset['playback'] as Playback).hls)).sounds).toHaveLength(1);
  });
});

describe('manifests', () => {
  test('never state a peak bandwidth below the average', async () => {
    const clip = { seconds: 5, width: 720, height: 480, more: ['-r', '30000/1001'] };
    const hls = await read((await upload(await makeClip(clip))).playback.hls);
    const peaks = numbersOf(hls, /^#EXT-X-STREAM-INF:BANDWIDTH=(\d+)/gm);
    const averages = numbersOf(hls, /^#EXT-X-STREAM-INF:.*,AVERAGE-BANDWIDTH=(\d+)/gm);
    expect(peaks.length).toBeGreaterThan(0);
    peaks.forEach((peak, index) => {
      expect(peak).toBeGreaterThanOrEqual(averages[index] ?? Number.POSITIVE_INFINITY);
    });
  });
  test('last as long as the media, and the last segment is not tiny', async () => {
    const { hls, dash } = (await upload(await makeClip({ seconds: 4.033, audio: false }))).playback;
    const [playlist = ''] = (await playlistsOf(hls)).pictures;
    const segments = numbersOf(await read(playlist), /#EXTINF:([\d.]+)/g);
    expect(segments).toEqual([121 / 30].map((seconds) => expect.closeTo(seconds, 4)));
    const [stated = 0] = numbersOf(await read(dash), /mediaPresentationDuration="PT([\d.]+)S"/g);
    expect(stated).toBe(4.034);
  });
});
