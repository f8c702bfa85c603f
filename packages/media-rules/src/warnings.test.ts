// Tests which properties of a video file cause which warnings.
import { describe, expect, test } from 'vitest';
import { toWarnings, type VideoTraits } from './warnings.ts';

const ORDINARY: VideoTraits = {
  isHdr: false,
  isTurned: false,
  isInterlaced: false,
  hasVariableRate: false,
  framesPerSecond: 30,
  storedSize: { width: 1920, height: 1080 },
  startSeconds: 0,
  audioChannels: [2],
  droppedSubtitles: 0,
};
const codesOf = (traits: VideoTraits) => toWarnings(traits).map(({ code }) => code);
const codesWith = (changed: VideoTraits) => codesOf({ ...ORDINARY, ...changed });

describe('warnings of a video', () => {
  test('that is ordinary do not exist', () => {
    expect(codesOf(ORDINARY)).toEqual([]);
  });
  test('do not exist where nothing is known', () => {
    expect(codesOf({})).toEqual([]);
  });
  test.each<[string, VideoTraits]>([
    ['hdr', { isHdr: true }],
    ['rotated', { isTurned: true }],
    ['variable_frame_rate', { hasVariableRate: true }],
    ['low_frame_rate', { framesPerSecond: 9.98 }],
    ['high_frame_rate', { framesPerSecond: 60.02 }],
    ['interlaced', { isInterlaced: true }],
    ['odd_dimensions', { storedSize: { width: 321, height: 180 } }],
    ['odd_dimensions', { storedSize: { width: 320, height: 181 } }],
    ['edit_list', { startSeconds: -0.11 }],
    ['no_audio', { audioChannels: [] }],
    ['multiple_audio_tracks', { audioChannels: [2, null] }],
    ['surround_audio', { audioChannels: [6] }],
    ['subtitles_dropped', { droppedSubtitles: 1 }],
    ['subtitles_forced', { hasForcedSubtitles: true }],
    ['alpha_dropped', { hasAlpha: true }],
    ['chapters_dropped', { hasDroppedChapters: true }],
    ['animation_dropped', { isAnimationDropped: true }],
  ])('name %s for %j', (code, traits) => {
    expect(codesWith(traits)).toEqual([code]);
  });
  test.each<[string, VideoTraits]>([
    ['10 frames per second, rounded', { framesPerSecond: 9.99 }],
    ['60 frames per second, rounded', { framesPerSecond: 60.01 }],
    ['the priming of an audio encoder', { startSeconds: -0.1 }],
    ['a late start', { startSeconds: 5 }],
    ['mono, and channels that are not known', { audioChannels: [null] }],
  ])('do not name %s', (_, traits) => {
    expect(codesWith(traits)).toEqual([]);
  });
  test('are one sentence each, in a fixed order', () => {
    const warnings = toWarnings({ ...ORDINARY, audioChannels: [], isHdr: true });
    expect(warnings).toEqual([
      { code: 'hdr', message: expect.stringMatching(/^[A-Z].*\.$/) },
      { code: 'no_audio', message: expect.stringMatching(/^[A-Z].*\.$/) },
    ]);
  });
});
