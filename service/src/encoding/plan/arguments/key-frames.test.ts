// Tests the positions of key frames, in particular at the end of a video.
import { describe, expect, test } from 'vitest';
import { keyFrameExpression, longestGroup } from './encode-plan.ts';

const film = (frames: number, numerator = 30, denominator = 1) => ({
  frames,
  frameRate: { numerator, denominator },
});
/** The frames that the expression makes key frames, computed as ffmpeg does. */
function keyFrames(timeline: ReturnType<typeof film>): number[] {
  const [, group = 0, limit = 0] = (
    /^expr:not\(mod\(n,(\d+)\)\)\*lt\(n,(\d+)\)$/.exec(keyFrameExpression(timeline)) ?? []
  ).map(Number);
  return Array.from({ length: timeline.frames }, (_, n) => n).filter((n) => n % group === 0 && n < limit);
}

describe('key frames', () => {
  test('are placed every two seconds', () => expect(keyFrames(film(300))).toEqual([0, 60, 120, 180, 240]));
  test.each([
    ['24 fps', film(96 + 1, 24), [0, 48]],
    ['25 fps', film(200 + 2, 25), [0, 50, 100, 150]],
    ['30000/1001 fps', film(120 + 59, 30000, 1001), [0, 60]],
    ['60 fps', film(240 + 119, 60), [0, 120]],
  ])('at %s, a tail shorter than half a segment starts no segment', (_, timeline, expected) =>
    expect(keyFrames(timeline)).toEqual(expected),
  );
  test('a tail of half a segment is a segment', () =>
    expect(keyFrames(film(120 + 60))).toEqual([0, 60, 120]));
  test('a video of whole segments has no tail', () =>
    expect(keyFrames(film(240))).toEqual([0, 60, 120, 180]));
  test.each([1, 2, 30])('a video of %d frames starts with a key frame', (frames) =>
    expect(keyFrames(film(frames))).toEqual([0]),
  );
  test('two groups fill a segment at any rate', () => {
    expect(keyFrames(film(100, 8797, 1000))).toEqual([0, 18, 36, 54, 72, 90]);
    expect(longestGroup(film(100, 8797, 1000))).toBe(36);
  });
});
