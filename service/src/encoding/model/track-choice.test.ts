// Tests which track and segment of a video are chosen for other files.
import { describe, expect, test } from 'vitest';
import { type CmafTrack, segmentName } from './cmaf-track.ts';
import { getVideoForWidth, segmentAtTime, timedSegments } from './track-choice.ts';

const track = (id: number, size: CmafTrack['size'], codec = 'avc1.64001f'): CmafTrack => ({
  id,
  timescale: 1000,
  codec,
  size,
  segments: [4000, 4000, 2000].map((duration, index) => ({
    name: segmentName(id, index + 1),
    start: index * 4000,
    duration,
    bytes: 1000,
  })),
});
const wide = track(0, { width: 1920, height: 1080 });
const small = track(1, { width: 640, height: 360 });
const sound = track(2, null, 'mp4a.40.2');
const av1 = track(100, { width: 320, height: 180 }, 'av01.0.00M.08');

describe('the video for a width', () => {
  test.each([
    [320, 1],
    [640, 1],
    [641, 0],
    [5000, 0],
  ])('%d pixels: track %d', (width, id) =>
    expect(getVideoForWidth([wide, small, sound, av1], width).id).toBe(id),
  );
  test('is in another codec only without H.264', () =>
    expect(getVideoForWidth([sound, av1], 640).id).toBe(100));
  test('is missing in a run of sound', () => expect(() => getVideoForWidth([sound], 1)).toThrow('no video'));
});

describe('the segment at a time', () => {
  test.each([
    [-1, 1],
    [0, 1],
    [3.999, 1],
    [4, 2],
    [9.9, 3],
    [1e9, 3],
  ])('%d s: segment %d', (seconds, number) =>
    expect(segmentAtTime(small, seconds).name).toBe(segmentName(1, number)),
  );
  test('knows when it starts and ends', () =>
    expect(timedSegments(small).map(({ startSeconds, endSeconds }) => [startSeconds, endSeconds])).toEqual([
      [0, 4],
      [4, 8],
      [8, 10],
    ]));
  test('is missing in a track without segments', () =>
    expect(() => segmentAtTime({ ...small, segments: [] }, 0)).toThrow('no segments'));
});
