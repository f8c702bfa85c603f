// Tests the gain that brings sound to a target loudness, and where it stays as it is.
import { expect, test } from 'vitest';
import { chooseNormalization, normalizationFilters } from './normalization.ts';

const TARGET = { lufs: -16, maxPeakDbtp: -1 };
const choose = (loudnessLufs: number | null, truePeakDbtp: number | null, target = TARGET) =>
  chooseNormalization({ loudnessLufs, truePeakDbtp }, target);

test.each([
  ['loud sound is lowered', -9.3, -0.1, { gainDb: -6.7, ceilingDbtp: null }],
  ['quiet sound is raised', -20, -8, { gainDb: 4, ceilingDbtp: null }],
  ['peaks that a gain raises too far are limited', -20, -3.5, { gainDb: 4.3, ceilingDbtp: -2.5 }],
  ['so are those of sound with the right loudness', -16, 0.5, { gainDb: 0.3, ceilingDbtp: -2.5 }],
  ['a limiter takes at most 6 dB', -30, -5, { gainDb: 8.5, ceilingDbtp: -2.5 }],
  ['the gain has a limit', -45, -40, { gainDb: 20, ceilingDbtp: null }],
  ['sound with high peaks is never lowered for them', -17, 5, { gainDb: 0, ceilingDbtp: -2.5 }],
] as const)('%s', (...[, lufs, peak, expected]) => expect(choose(lufs, peak)).toEqual(expected));

test.each([
  ['sound of the right loudness', -16, -3],
  ['noise of a room', -50.1, -40],
  ['silence, and sound of less than 400 ms', null, null],
  ['a click that is too short for a loudness', null, -3],
] as const)('%s stays as it is', (...[, lufs, peak]) => expect(choose(lufs, peak)).toBeNull());

test('another limit of peaks', () =>
  expect(choose(-20, -4.3, { lufs: -23, maxPeakDbtp: -9 })).toEqual({ gainDb: -2.7, ceilingDbtp: -10.5 }));

test('filters of an unchanged, a changed and a limited track', () => {
  expect(normalizationFilters(null, 2)).toEqual([]);
  expect(normalizationFilters({ gainDb: -3, ceilingDbtp: null }, 6)).toEqual([
    'aformat=channel_layouts=5.1',
    'volume=-3dB:precision=float',
  ]);
  expect(normalizationFilters({ gainDb: 0, ceilingDbtp: -2 }, 2).slice(2)).toEqual([
    'aresample=192000',
    'alimiter=limit=0.7943:attack=5:release=50:level=false:latency=true',
    'aresample=48000',
  ]);
});
