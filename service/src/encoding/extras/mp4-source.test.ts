// Tests which renditions the MP4 and M4A files are made of.
import { expect, test } from 'vitest';
import type { ListedVariant } from '../packaging/hls-reader.ts';
import { chooseAudio, chooseMp4Video } from './mp4-source.ts';

const HOUR = 3600;
const listed = (height: number, megabits: number, codec = 'avc1.640028'): ListedVariant => ({
  playlist: `${height}`,
  width: (height * 16) / 9,
  height,
  codecs: [codec, 'mp4a.40.2'],
  bitrate: megabits * 1e6,
  frameRate: 25,
  audioGroup: 'audio',
});
const ladder = [listed(720, 3), listed(2160, 16), listed(1080, 6), listed(360, 0.8)];
const chosen = (seconds: number, videos: readonly ListedVariant[]) =>
  chooseMp4Video({ folder: '', audios: [], videos }, seconds)?.height;

test('the largest rendition up to 1080p is chosen', () => {
  expect(chosen(60, ladder)).toBe(1080);
  expect(chosen(60, [{ ...listed(1080, 6), width: 1080, height: 1920 }])).toBe(1920);
});

test('a smaller one for long videos, and none when all are too large', () => {
  expect(chosen(2 * HOUR, ladder)).toBe(720);
  expect(chosen(11 * HOUR, ladder)).toBe(360);
  expect(chosen(12 * HOUR, ladder)).toBeUndefined();
});

test('renditions of other codecs are left out', () => {
  expect(chosen(60, [listed(1080, 3, 'hvc1.1.6.L93.B0'), listed(480, 1)])).toBe(480);
  expect(chosen(60, [listed(1080, 3, 'av01.0.08M.08')])).toBeUndefined();
});

test('the default track of the first audio group is chosen', () => {
  const audio = (playlist: string, group: string, isDefault: boolean) => ({ playlist, group, isDefault });
  const audios = [audio('r3', 'audio', false), audio('r4', 'audio', true), audio('r5', 'audio-51', true)];
  expect(chooseAudio({ folder: '', videos: [], audios })?.playlist).toBe('r4');
  expect(chooseAudio({ folder: '', videos: [], audios: audios.slice(0, 1) })?.playlist).toBe('r3');
  expect(chooseAudio({ folder: '', videos: [], audios: [] })).toBeUndefined();
});
