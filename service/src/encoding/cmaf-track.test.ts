// Bit rates steer every player's choice of rung.
import { describe, expect, test } from 'vitest';
import {
  type CmafTrack,
  averageBitrate,
  initName,
  isVideo,
  peakBitrate,
  playlistName,
  secondsOfTrack,
  segmentName,
} from './cmaf-track.ts';

const track = (...segments: [seconds: number, bytes: number][]): CmafTrack => ({
  id: 0,
  timescale: 1000,
  codec: 'avc1.64001f',
  size: { width: 1280, height: 720 },
  segments: segments.map(([seconds, bytes], index) => ({
    name: segmentName(0, index + 1),
    start: index * 4000,
    duration: seconds * 1000,
    bytes,
  })),
});

describe('CMAF track', () => {
  test('average over the whole track', () => {
    expect(averageBitrate(track([4, 500_000], [4, 1_500_000], [2, 500_000]))).toBe(2_000_000);
    expect(secondsOfTrack(track([4, 1], [4, 1], [2.5, 1]))).toBe(10.5);
  });
  test('peak of the most demanding segment', () =>
    expect(peakBitrate(track([4, 500_000], [4, 1_500_000], [2, 250_000]))).toBe(3_000_000));
  test('a short rest at the end is no peak', () =>
    expect(peakBitrate(track([4, 500_000], [0.1, 100_000]))).toBe(1_000_000));
  test('a film of one short segment has a peak too', () =>
    expect(peakBitrate(track([0.04, 1000]))).toBe(200_000));
  test('file names', () =>
    expect([initName(2), segmentName(2, 7), playlistName(2)]).toEqual([
      'r2-init.mp4',
      'r2-00007.m4s',
      'r2.m3u8',
    ]));
  test('what has a size is a picture', () =>
    expect([isVideo(track()), isVideo({ ...track(), size: null })]).toEqual([true, false]));
});
