// Tests which tracks the MP4 and M4A files are made of.
import { expect, test } from 'vitest';
import type { CmafTrack } from '../model/cmaf-track.ts';
import { soundTracks } from '../packaging/tracks.fixture.ts';
import { chooseAudio, chooseMp4Tracks } from './mp4-source.ts';

const HOUR = 3600;
const video = (height: number, megabits: number, codec = 'avc1.640028'): CmafTrack => ({
  id: height,
  timescale: 1000,
  codec,
  size: { width: (height * 16) / 9, height },
  segments: [{ name: 'a', start: 0, duration: 8000, bytes: megabits * 1e6 }],
});
const ladder = [video(720, 3), video(2160, 16), video(1080, 6), video(360, 0.8)];
const chosen = (seconds: number, tracks: readonly CmafTrack[]) =>
  chooseMp4Tracks(tracks, seconds).map(({ id }) => id);

test('the largest rendition up to 1080p is chosen', () => {
  expect(chosen(60, ladder)).toEqual([1080]);
  expect(chosen(60, [{ ...video(1080, 6), size: { width: 1080, height: 1920 } }])).toEqual([1080]);
});

test('a smaller one for long videos, and none when all are too large', () => {
  expect(chosen(2 * HOUR, ladder)).toEqual([720]);
  expect(chosen(11 * HOUR, ladder)).toEqual([360]);
  expect(chosen(12 * HOUR, ladder)).toEqual([]);
});

test('renditions of other codecs are left out', () => {
  expect(chosen(60, [video(1080, 3, 'hvc1.1.6.L93.B0'), video(480, 1)])).toEqual([480]);
  expect(chosen(60, [video(1080, 3, 'av01.0.08M.08')])).toEqual([]);
});

test('the default track in stereo is its sound', () => {
  const sounds = soundTracks(3, [{ language: 'eng', channels: 6 }, { language: 'ger' }]);
  expect(chooseAudio([video(720, 3), ...sounds])).toMatchObject({
    id: 3,
    audio: { channels: 2, track: { isDefault: true } },
  });
  expect(chosen(60, [video(720, 3), ...sounds])).toEqual([720, 3]);
  expect(chooseAudio([video(720, 3)])).toBeUndefined();
});
