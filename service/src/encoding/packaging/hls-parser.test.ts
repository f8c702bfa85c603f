// Tests that the parser reads the playlists that our encoder writes.
import { describe, expect, test } from 'vitest';
import { type CmafTrack, segmentName } from './cmaf-track.ts';
import {
  findExcerpt,
  findThumbnailPlaylist,
  formatMediaPlaylist,
  formatMultivariantPlaylist,
} from './hls-playlist.ts';

const track = (
  id: number,
  size: CmafTrack['size'],
  durations: readonly number[] = [4000, 4000, 2500],
): CmafTrack => ({
  id,
  timescale: 1000,
  codec: 'avc1.64001f',
  size,
  segments: durations.map((duration, index) => ({
    name: segmentName(id, index + 1),
    start: index * 4000,
    duration,
    bytes: 1000,
  })),
});
const multivariant = (...sizes: CmafTrack['size'][]) =>
  formatMultivariantPlaylist({
    tracks: sizes.map((size, id) => track(id, size)),
    frameRate: { numerator: 25, denominator: 1 },
    childFolder: '3-1',
  });

describe('the playlist for thumbnails', () => {
  const [tall, middle, low] = [
    { width: 1920, height: 1080 },
    { width: 1280, height: 720 },
    { width: 640, height: 360 },
  ];

  test('is the widest that is no wider than a thumbnail, whichever players start with', () => {
    expect(findThumbnailPlaylist(multivariant(tall, middle, low, null))).toBe('r1.m3u8');
    expect(
      findThumbnailPlaylist(multivariant({ width: 1080, height: 1920 }, { width: 720, height: 1280 })),
    ).toBe('r0.m3u8');
  });
  test('is the narrowest where all are wider', () => {
    expect(
      findThumbnailPlaylist(multivariant({ width: 2592, height: 1080 }, { width: 1728, height: 720 })),
    ).toBe('r1.m3u8');
  });
  test('is an error if there is none', () => {
    expect(() => findThumbnailPlaylist(multivariant(null))).toThrow('no video track');
  });
});

describe('the files that show a time', () => {
  test.each([
    [0, 1],
    [3999, 1],
    [4000, 2],
    [7999, 2],
    [8000, 3],
    [10_499, 3],
    [10_500, 3],
    [2 ** 31, 3],
  ])('%d ms: segment %d', (timeMs, segment) => {
    expect(findExcerpt(formatMediaPlaylist(track(2, { width: 640, height: 360 })), timeMs)).toEqual({
      init: 'r2-init.mp4',
      segment: segmentName(2, segment),
      startSeconds: (segment - 1) * 4,
    });
  });
  test('are not found in a playlist that names none', () => {
    expect(() => findExcerpt('#EXTM3U\n', 0)).toThrow('no init');
    expect(() => findExcerpt('#EXTM3U\n#EXT-X-MAP:URI="a.mp4"\n', 0)).toThrow('no segments');
  });
});
