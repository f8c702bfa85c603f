// Tests that the reader understands the playlists that our encoder writes.
import { describe, expect, test } from 'vitest';
import { type CmafTrack, segmentName, type VideoTrack } from '../model/cmaf-track.ts';
import { formatMediaPlaylist, formatMultivariantPlaylist } from './hls-playlist.ts';
import {
  getExcerpt,
  getThumbnailPlaylist,
  getVideoForWidth,
  type ListedVariant,
  parseMediaPlaylist,
  parseMultivariantPlaylist,
  segmentAtTime,
} from './hls-reader.ts';
import { formatIFrameStreams } from './i-frame-playlist.ts';

const track = (id: number, size: CmafTrack['size'], codec = 'avc1.64001f'): CmafTrack => ({
  id,
  timescale: 1000,
  codec,
  size,
  segments: [4000, 4000, 2500].map((duration, index) => ({
    name: segmentName(id, index + 1),
    start: index * 4000,
    duration,
    bytes: 1000,
  })),
});
const video = track(0, { width: 640, height: 360 }) as VideoTrack;
const audio: CmafTrack = {
  ...track(2, null, 'mp4a.40.2'),
  audio: {
    track: {
      index: 1,
      codec: 'aac',
      channels: 2,
      language: 'en',
      name: 'English',
      isDefault: true,
      purpose: 'main',
    },
    channels: 2,
  },
};
const tracks = [video, track(1, { width: 1920, height: 1080 }), audio];
const keyFrames = video.segments.map(() => ({ start: 76, length: 900 }));
const text =
  formatMultivariantPlaylist({
    tracks,
    frameRate: { numerator: 30_000, denominator: 1001 },
    childFolder: '3-1',
  }) + formatIFrameStreams([{ track: video, keyFrames }], '3-1');

test('a multivariant playlist lists its videos, audio and folder', () => {
  const { folder, videos, audios } = parseMultivariantPlaylist(text);
  expect(folder).toBe('3-1');
  expect(audios).toEqual([{ playlist: 'r2.m3u8', group: 'audio', isDefault: true }]);
  expect(videos.map(({ playlist }) => playlist).sort()).toEqual(['r0.m3u8', 'r1.m3u8']);
  expect(videos).toContainEqual({
    playlist: 'r0.m3u8',
    width: 640,
    height: 360,
    codecs: ['avc1.64001f', 'mp4a.40.2'],
    bitrate: 4572,
    frameRate: 29.97,
    audioGroup: 'audio',
  });
});

test('a playlist without variants is not one of ours', () => {
  expect(() => parseMultivariantPlaylist('#EXTM3U\n')).toThrow('no variant');
  expect(() => parseMediaPlaylist('#EXTM3U\n')).toThrow('init segment');
  expect(() => parseMediaPlaylist('#EXT-X-MAP:URI="r0-init.mp4"\n')).toThrow('no segments');
});

test('a media playlist lists its segments with their times', () => {
  const list = parseMediaPlaylist(formatMediaPlaylist(video));
  expect(list).toEqual({
    init: 'r0-init.mp4',
    segments: [
      { name: 'r0-00001.m4s', start: 0, end: 4 },
      { name: 'r0-00002.m4s', start: 4, end: 8 },
      { name: 'r0-00003.m4s', start: 8, end: 10.5 },
    ],
  });
  const nameAt = (seconds: number) => segmentAtTime(list, seconds).name.slice(3, 8);
  expect([0, 3.9, 4, 10.5, 99].map(nameAt)).toEqual(['00001', '00001', '00002', '00003', '00003']);
});

test('the smallest rendition that is wide enough is chosen, H.264 before other codecs', () => {
  const listed = (width: number, codec = 'avc1.4d401e'): ListedVariant => ({
    playlist: `${width}`,
    width,
    height: width / 2,
    codecs: [codec],
    bitrate: 1,
    frameRate: 25,
    audioGroup: undefined,
  });
  const chosen = (width: number, ...videos: ListedVariant[]) =>
    getVideoForWidth({ folder: '', audios: [], videos }, width).width;
  const ladder = [listed(1280), listed(640), listed(1920)];
  expect([0, 640, 641, 4000].map((width) => chosen(width, ...ladder))).toEqual([640, 640, 1280, 1920]);
  expect(chosen(0, listed(320, 'av01.0.04M.08'), ...ladder)).toBe(640);
  expect(chosen(0, listed(320, 'av01.0.04M.08'))).toBe(320);
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
    expect(getThumbnailPlaylist(multivariant(tall, middle, low, null))).toBe('r1.m3u8');
    expect(
      getThumbnailPlaylist(multivariant({ width: 1080, height: 1920 }, { width: 720, height: 1280 })),
    ).toBe('r0.m3u8');
  });
  test('is the narrowest where all are wider', () => {
    expect(
      getThumbnailPlaylist(multivariant({ width: 2592, height: 1080 }, { width: 1728, height: 720 })),
    ).toBe('r1.m3u8');
  });
  test('is in SDR, which needs no tone mapping', () => {
    const colour = { primaries: 9, transfer: 16, matrix: 9, isFullRange: false };
    for (const size of [tall, low]) {
      const hdr = { ...track(400, size, 'hvc1.2.4.L93.B0'), colour };
      const playlist = formatMultivariantPlaylist({
        tracks: [track(0, size), hdr],
        frameRate: { numerator: 25, denominator: 1 },
        childFolder: '3-1',
      });
      expect(playlist).toContain('VIDEO-RANGE=PQ');
      expect(getThumbnailPlaylist(playlist)).toBe('r0.m3u8');
    }
  });
  test('is an error if there is none', () => {
    expect(() => getThumbnailPlaylist(multivariant(null))).toThrow('no video track');
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
    expect(getExcerpt(formatMediaPlaylist(track(2, { width: 640, height: 360 })), timeMs)).toEqual({
      init: 'r2-init.mp4',
      segment: segmentName(2, segment),
      startSeconds: (segment - 1) * 4,
    });
  });
  test('are not found in a playlist that names none', () => {
    expect(() => getExcerpt('#EXTM3U\n', 0)).toThrow('no init');
    expect(() => getExcerpt('#EXTM3U\n#EXT-X-MAP:URI="a.mp4"\n', 0)).toThrow('no segments');
  });
});
