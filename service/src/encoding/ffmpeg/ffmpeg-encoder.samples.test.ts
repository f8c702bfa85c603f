// Tests that sample videos of other sources are encoded, or rejected with the right code.
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { encodeFilm } from '../../../../test/support/clips/film.ts';
import { CLEAN, decode } from '../../../../test/support/clips/picture-and-sound.ts';
import { TEST_DATA } from '../../../../test/support/clips/test-data.ts';
import type { EncodeRequest } from '../encoder.ts';

const RAILS = 'video-samples/rails/activestorage/test/fixtures/files';
const MP4 = 'video-samples/go-mp4/testdata';
const WEB = 'video-samples/web-platform-tests/media';
const MOZILLA = 'video-bbb/mp4parse-rust/mp4parse/tests';

type Expected = { size: string; seconds: number; container?: EncodeRequest['container'] };
const FILMS: Record<string, Expected> = {
  [`${RAILS}/rotated_hdr_video.mov`]: { size: '1080x1920', seconds: 1.667 },
  [`${RAILS}/video.webm`]: { size: '640x480', seconds: 5.229, container: 'matroska' },
  [`${RAILS}/video_with_rectangular_samples.mp4`]: { size: '1920x1080', seconds: 5.23 },
  [`${RAILS}/video_without_audio_stream.mp4`]: { size: '640x480', seconds: 5.229 },
  [`${MP4}/sample_fragmented.mp4`]: { size: '1280x720', seconds: 1.21 },
  [`${WEB}/2x2-green.mp4`]: { size: '2x2', seconds: 0.182 },
  [`${MOZILLA}/tiny_av1.mp4`]: { size: '64x64', seconds: 0.042 },
  [`${MOZILLA}/hevc_white_frame.mp4`]: { size: '640x480', seconds: 0.04 },
};
const REFUSED: Record<string, string> = {
  [`${RAILS}/video_without_video_stream.mp4`]: 'no_video_track',
  [`${MP4}/sample_qt.mp4`]: 'truncated',
  [`${MP4}/sample_init.encv.mp4`]: 'not_media',
  [`${WEB}/poster.png`]: 'not_media',
};

describe.skipIf(TEST_DATA === undefined)('videos that others made', () => {
  test.each(Object.entries(FILMS))(
    '%s',
    async (name, { size, seconds, container = 'mov' }) => {
      await using film = await encodeFilm(join(TEST_DATA ?? '', name), { container });
      expect(`${film.width}x${film.height}`).toBe(size);
      expect(Math.abs(film.durationMs / 1000 - seconds)).toBeLessThanOrEqual(0.1);
      expect(await decode(film.path('hls.m3u8'))).toEqual(CLEAN);
      expect(film.warnings.map(({ code }) => code)).not.toContain('damaged');
    },
    60_000,
  );
  test.each(Object.entries(REFUSED))('%s is refused as %s', async (name, code) => {
    await expect(encodeFilm(join(TEST_DATA ?? '', name))).rejects.toMatchObject({ code });
  });
});
