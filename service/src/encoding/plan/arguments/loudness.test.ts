// Tests the parser of the measured values with text as both ffmpeg versions print it.
import { expect, test } from 'vitest';
import { parseLoudness } from './loudness.ts';

const listing = (name: string, values: readonly string[]) =>
  values
    .map((value, n) => `frame:${n}    pts:${n * 4800}    pts_time:${n / 10}\nlavfi.r128.${name}=${value}\n`)
    .join('');
const measured = (lufs: readonly string[], peaks: readonly string[]) =>
  parseLoudness(listing('I', lufs), listing('true_peak', peaks));

test('the last values count', () => {
  expect(measured(['-70.000', '-23.100', '-21.070'], ['0.100', '0.500'])).toEqual({
    loudnessLufs: -21.1,
    truePeakDbtp: -6,
  });
});
test('a peak above full scale is positive', () =>
  expect(measured(['-3.000'], ['1.259']).truePeakDbtp).toBe(2));
test('the first line may be cut off', () =>
  expect(parseLoudness(listing('I', ['-9.500', '-14.000']).slice(30), '').loudnessLufs).toBe(-14));
test('silence, and a track without frames, have no loudness', () => {
  expect(measured(['-70.000'], ['0.000'])).toEqual({ loudnessLufs: null, truePeakDbtp: null });
  expect(parseLoudness('', '')).toEqual({ loudnessLufs: null, truePeakDbtp: null });
});
