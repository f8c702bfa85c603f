// Tests the average and peak bit rates, which determine the players' choice of rung.
import { describe, expect, test } from 'vitest';
import {
  type CmafTrack,
  averageBitrate,
  initName,
  isVideo,
  peakBitrate,
  playlistName,
  trackSeconds,
  segmentName,
  targetDuration,
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
  test('the average includes the whole track', () => {
    expect(averageBitrate(track([4, 500_000], [4, 1_500_000], [2, 500_000]))).toBe(2_000_000);
    expect(trackSeconds(track([4, 1], [4, 1], [2.5, 1]))).toBe(10.5);
  });
  test('peak of the most demanding segment', () =>
    expect(peakBitrate(track([4, 500_000], [4, 1_500_000], [2, 250_000]))).toBe(3_000_000));
  test('a short tail counts together with the segment before it', () => {
    expect(peakBitrate(track([4, 500_000], [0.1, 100_000]))).toBe(Math.ceil((600_000 * 8) / 4.1));
    expect(peakBitrate(track([4, 500_000], [4, 400_000], [1, 250_000]))).toBe((650_000 * 8) / 5);
  });
  test('a short segment alone is no peak', () =>
    expect(peakBitrate(track([4, 500_000], [4, 500_000], [0.5, 10_000]))).toBe(1_000_000));
  test('a video of one short segment has a peak bit rate', () =>
    expect(peakBitrate(track([0.04, 1000]))).toBe(200_000));
  test('a peak is never below the average', () => {
    for (const tail of [0.001, 0.5, 1, 1.9, 2, 3]) {
      const film = track([4, 300_000], [4, 300_000], [tail, 400_000]);
      expect(peakBitrate(film)).toBeGreaterThanOrEqual(averageBitrate(film));
    }
  });
  test('the target duration is the longest segment, rounded, and never zero', () => {
    expect(targetDuration(track([4, 1], [5.9, 1]))).toBe(6);
    expect(targetDuration(track([0.04, 1]))).toBe(1);
  });
  test('file names', () =>
    expect([initName(2), segmentName(2, 7), playlistName(2)]).toEqual([
      'r2-init.mp4',
      'r2-00007.m4s',
      'r2.m3u8',
    ]));
  test('a track with a size is video', () =>
    expect([isVideo(track()), isVideo({ ...track(), size: null })]).toEqual([true, false]));
});
