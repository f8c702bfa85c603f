// Videos as cameras and programs write them: rotated, stretched, silent, fragmented. Each plays in shape to
// its end.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type ClipOptions, makeClip, TEST_DATA } from '../../support/clips/clips.ts';
import { type AssetJson, ingest, offer, readAsset } from '../../support/media.ts';
import { CLEAN, decode } from '../../support/clips/picture-and-sound.ts';
import { startTestService, type TestService } from '../../support/service.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service.stop());

type Shown = { readonly mime?: string; readonly size: readonly [number, number]; readonly seconds: number };

async function expectPlays(file: string, { mime = 'video/mp4', size, seconds }: Shown): Promise<void> {
  const asset = await ingest(service, 'ann', { file, fields: { visibility: 'public', mime_type: mime } });
  expect(asset).toMatchObject({ stream_status: 'ready', failure: null, width: size[0], height: size[1] });
  expect(Math.abs(Number(asset['duration_ms']) - seconds * 1000)).toBeLessThanOrEqual(100);
  expectShape(asset);
  const { hls, dash } = asset['playback'] as { hls: string; dash: string };
  expect([await decode(hls), await decode(dash)]).toEqual([CLEAN, CLEAN]);
}

/** Even sides put a rung off by a pixel. */
function expectShape(asset: AssetJson): void {
  const [{ width, height }] = asset['renditions'] as [{ width: number; height: number }];
  expect(Math.abs(width / height - Number(asset['width']) / Number(asset['height']))).toBeLessThan(0.02);
}

describe('a generated video', () => {
  test.each<[string, ClipOptions, Shown]>([
    ['turned by 90 degrees', { rotation: 90 }, { size: [180, 320], seconds: 2 }],
    ['silent', { audio: false }, { size: [320, 180], seconds: 2 }],
    ['with wide pixels', { more: ['-vf', 'setsar=2/1'] }, { size: [640, 180], seconds: 2 }],
    [
      'of odd sides',
      { more: ['-vf', 'scale=321:181,setsar=1', '-pix_fmt', 'yuv444p'] },
      { size: [321, 181], seconds: 2 },
    ],
    ['in fragments', { more: ['-movflags', '+frag_keyframe+empty_moov'] }, { size: [320, 180], seconds: 2 }],
    ['as WebM', { container: 'webm', seconds: 1 }, { mime: 'video/webm', size: [320, 180], seconds: 1 }],
    ['as QuickTime', { container: 'mov' }, { mime: 'video/quicktime', size: [320, 180], seconds: 2 }],
    ['as a transport stream', { container: 'ts' }, { mime: 'video/mp2t', size: [320, 180], seconds: 2 }],
  ])('%s plays', async (_, options, shown) => expectPlays(await makeClip(options), shown), 60_000);
});

describe.runIf(TEST_DATA)('a collected video', () => {
  const rails = 'rails/activestorage/test/fixtures/files';
  const platform = 'web-platform-tests/media';
  const path = (name: string) => join(TEST_DATA ?? '', name);

  test.each<[string, Shown]>([
    [`video-samples/${rails}/rotated_video.mp4`, { size: [480, 640], seconds: 5.2 }],
    [`video-samples/${rails}/video_without_audio_stream.mp4`, { size: [640, 480], seconds: 5.2 }],
    [`video-samples/${rails}/video_with_rectangular_samples.mp4`, { size: [1920, 1080], seconds: 5.2 }],
    [
      `video-samples/${rails}/video_with_undefined_display_aspect_ratio.mp4`,
      { size: [640, 480], seconds: 3.4 },
    ],
    [`video-samples/${rails}/video.webm`, { mime: 'video/webm', size: [640, 480], seconds: 5.2 }],
    [`video-samples/${platform}/white.webm`, { mime: 'video/webm', size: [320, 240], seconds: 10 }],
    [`video-samples/${platform}/2x2-green.mp4`, { size: [2, 2], seconds: 0.18 }],
    ['video-samples/go-mp4/testdata/sample_fragmented.mp4', { size: [1280, 720], seconds: 1.2 }],
    ['video-bbb/mp4parse-rust/mp4parse_capi/tests/video_rotation_90.mp4', { size: [60, 100], seconds: 0.04 }],
  ])('%s plays', async (name, shown) => expectPlays(path(name), shown), 120_000);

  test('without a picture track is rejected', async () => {
    const { id, completed } = await offer(service, 'ann', {
      bytes: await readFile(path(`video-samples/${rails}/video_without_video_stream.mp4`)),
    });
    expect([completed.status, completed.body.error.details]).toEqual([400, { reason: 'no_video_track' }]);
    expect(await readAsset(service, 'ann', id)).toMatchObject({ stream_status: 'failed' });
  });
});
