// Expensive videos: low frame rates stay low, and a video above the limits is rejected with the numbers.
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { makeClip } from '../../support/clips/clips.ts';
import { type AssetJson, ingest } from '../../support/media.ts';
import { CLEAN, decode } from '../../support/clips/picture-and-sound.ts';
import { startTestService, type TestService } from '../../support/service.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service.stop());

const HOUR = 3600;
const PUBLIC = { fields: { visibility: 'public' } };
const playbackOf = (asset: AssetJson) => asset['playback'] as { hls: string; dash: string };
const textOf = async (url: string) => (await fetch(url)).text();

/** The multivariant playlist's frame rate, and the media playlist of its first rendition. */
async function hlsOf(asset: AssetJson): Promise<{ frameRate: string | undefined; segments: number[] }> {
  const { hls } = playbackOf(asset);
  const multivariant = await textOf(hls);
  const child = multivariant.split('\n').find((line) => line !== '' && !line.startsWith('#')) ?? '';
  const media = await textOf(new URL(child, hls).href);
  return {
    frameRate: /FRAME-RATE=([\d.]+)/.exec(multivariant)?.[1],
    segments: [...media.matchAll(/^#EXTINF:([\d.]+),/gm)].map(([, seconds]) => Number(seconds)),
  };
}

test.each([
  ['two frames per second stay two', 2, '2.000'],
  ['a frame each ten seconds is shown once per second', 1 / 10, '1.000'],
])(
  '%s, in segments of four seconds that play',
  async (_, fps, frameRate) => {
    const file = await makeClip({ seconds: 40, fps, more: ['-g', '2'] });
    const asset = await ingest(service, 'ann', { file, ...PUBLIC });
    expect(asset).toMatchObject({
      stream_status: 'ready',
      failure: null,
      warnings: [{ code: 'low_frame_rate' }],
    });
    const hls = await hlsOf(asset);
    expect(hls.frameRate).toBe(frameRate);
    expect(hls.segments).toEqual(Array.from({ length: 10 }, () => 4));
    const { hls: hlsUrl, dash } = playbackOf(asset);
    expect([await decode(hlsUrl), await decode(dash)]).toEqual([CLEAN, CLEAN]);
  },
  120_000,
);

test('a video of a few kilobytes that lasts an hour costs the encoder one frame per second', async () => {
  const file = await makeClip({
    seconds: HOUR,
    fps: 1 / 100,
    audio: false,
    more: ['-vf', 'scale=64:36', '-g', '2'],
  });
  const asset = await ingest(service, 'ann', { file, ...PUBLIC });
  expect(asset).toMatchObject({ stream_status: 'ready', failure: null, duration_ms: HOUR * 1000 });
  expect(await hlsOf(asset)).toMatchObject({ frameRate: '1.000', segments: { length: HOUR / 4 } });
});

async function refusedBy(setting: Record<string, string>): Promise<AssetJson> {
  const strict = await startTestService(setting);
  onTestFinished(strict.stop);
  const asset = await ingest(strict, 'ann', { file: await makeClip({ seconds: 4 }) });
  expect(asset['stream_status']).toBe('failed');
  return asset;
}

test('a video longer than MAX_VIDEO_DURATION_S fails permanently, and names both durations', async () => {
  const { failure } = await refusedBy({ MAX_VIDEO_DURATION_S: '3' });
  expect(failure).toEqual({
    code: 'too_long',
    message: expect.stringMatching(/^The video is \d s long\. The limit is 3 s\. Upload a shorter video\.$/),
    retryable: false,
  });
});

test('a video above MAX_ENCODE_COST fails permanently, and the failure explains the estimate', async () => {
  const { failure } = await refusedBy({ MAX_ENCODE_COST: '1000000' });
  expect(failure).toEqual({
    code: 'too_demanding',
    message: expect.stringMatching(
      /^Encoding this video costs \d+ output pixels \(\d s at 30 frames per second in 180p\)\. .* 1000000\./,
    ),
    retryable: false,
  });
});
