// Tests the parser of the measured values with text as both ffmpeg versions print it.
import { expect, test } from 'vitest';
import { parseLoudness, parseSummaries } from './loudness.ts';

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

const summary = (
  index: number,
  lufs: string,
  peak: string,
) => `[ebur128@level${index} @ 0x7f285c0180c0] Summary:

  Integrated loudness:
    I:         ${lufs} LUFS
    Threshold: -59.9 LUFS

  Loudness range:
    LRA:         0.4 LU
    Threshold: -69.7 LUFS
    LRA low:   -49.9 LUFS
    LRA high:  -49.5 LUFS

  True peak:
    Peak:      ${peak} dBFS
`;

test('summaries of several filters, among other lines', () => {
  const log = `frame=0\n${summary(1, '-23.1', ' -1.2')}[out#0] text\n${summary(0, ' -9.0', '  0.4')}`;
  expect([...parseSummaries(log)]).toEqual([
    [1, { loudnessLufs: -23.1, truePeakDbtp: -1.2 }],
    [0, { loudnessLufs: -9, truePeakDbtp: 0.4 }],
  ]);
});
test('a summary of silence, and one that is cut off', () => {
  const log = `LUFS\n${summary(0, '-70.0', ' -inf')}${summary(1, '-20.0', ' -3.0').slice(0, 120)}`;
  expect([...parseSummaries(log)]).toEqual([[0, { loudnessLufs: null, truePeakDbtp: null }]]);
});
test('metadata of the file is no summary', () => {
  const forged = summary(0, '-20.0', ' -3.0').replaceAll(/^/gm, '    title : ');
  expect(parseSummaries(forged).size).toBe(0);
});
