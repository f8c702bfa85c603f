// Tests that thumbnails avoid a black beginning.
import { describe, expect, test } from 'vitest';
import { type CmafTrack, segmentName } from './cmaf-track.ts';
import { choosePosterSource, chooseThumbnailSource } from './thumbnail-choice.ts';

const track = (id: number, width: number, bytes: readonly number[]): CmafTrack => ({
  id,
  timescale: 1000,
  codec: 'avc1.64001f',
  size: { width, height: (width * 9) / 16 },
  segments: bytes.map((size, index) => ({
    name: segmentName(id, index + 1),
    start: index * 4000,
    duration: 4000,
    bytes: size,
  })),
});
const chosen = (...bytes: number[]) => chooseThumbnailSource([track(0, 1280, bytes)]).segment.name;

describe('thumbnail source', () => {
  test('a tenth into the video', () => expect(chosen(...Array(30).fill(100))).toBe('r0-00004.m4s'));
  test('a black stretch is passed over', () =>
    expect(chosen(5, 5, 5, 100, 100, 100, 100, 100)).toBe('r0-00004.m4s'));
  test('a video whose first half is black uses the segment at 10 %', () =>
    expect(chosen(5, 5, 5, 5, 100, 100, 100, 100)).toBe('r0-00001.m4s'));
  test('one segment is enough', () => expect(chosen(100)).toBe('r0-00001.m4s'));
  test('from the largest rung that is no wider than the thumbnail', () => {
    expect(
      chooseThumbnailSource([track(0, 1920, [1]), track(1, 1280, [1]), track(2, 640, [1])]).track.id,
    ).toBe(1);
    expect(chooseThumbnailSource([track(0, 2592, [1])]).track.id).toBe(0);
  });
});

describe('poster source', () => {
  const tracks = [
    track(0, 1920, [1, 1, 1]),
    track(1, 1280, [1, 1, 1]),
    { ...track(2, 640, [1, 1, 1]), size: null },
  ];
  test.each([
    [0, 1],
    [3999, 1],
    [4000, 2],
    [11_999, 3],
    [12_000, 3],
    [2 ** 31, 3],
  ])('%d ms are in segment %d of the rung that fits', (timeMs, segment) => {
    const source = choosePosterSource(tracks, timeMs);
    expect([source.track.id, source.segment.name]).toEqual([1, segmentName(1, segment)]);
  });
});
