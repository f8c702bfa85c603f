// Tests the frame rate of the renditions for constant, variable, high, low and interlaced rates.
import { describe, expect, test } from 'vitest';
import { fieldRate, frameRateFor } from './frame-rate.ts';
import type { Rational } from '../../model/source.ts';

const rate = (numerator: number, denominator = 1): Rational => ({ numerator, denominator });
/** Rate and average. */
type FrameRates = readonly [Rational | null, number | null];
type Case = readonly [string, FrameRates, Rational];
const toSource = ([own, average]: FrameRates) => ({ rate: own, average });

describe('a constant frame rate', () => {
  test.each<Case>([
    ["is the source's own, exactly", [rate(30000, 1001), 29.97], rate(30000, 1001)],
    ['of 60 is kept', [rate(60), 60], rate(60)],
    ['with few missing frames is kept', [rate(30), 29.6], rate(30)],
    ['of 120 is halved', [rate(120), 120], rate(60)],
    ['of 119.88 is halved exactly', [rate(120_000, 1001), 119.88], rate(60_000, 1001)],
    ['of 100 is halved', [rate(100), 100], rate(50)],
    ['of 240 is divided by four', [rate(240), 240], rate(60)],
    ['without an average counts as constant', [rate(120), null], rate(60)],
  ])('%s', (_, source, expected) => expect(frameRateFor(toSource(source))).toEqual(expected));
});

describe('a variable frame rate', () => {
  test.each<Case>([
    ['becomes 30', [rate(30000, 1001), 18], rate(30)],
    ['on a fine lattice becomes 30', [rate(1000), 24], rate(30)],
    ['that is unknown becomes 30', [null, null], rate(30)],
    ['of up to 60 stays 60', [rate(60), 45], rate(60)],
    ['of up to 59.94 stays 59.94', [rate(60_000, 1001), 50], rate(60_000, 1001)],
    ['of up to 120 becomes 60', [rate(120), 50], rate(60)],
    ['of 60 on a fine lattice becomes 60', [rate(90_000), 58.6], rate(60)],
    ['of 48 on a fine lattice becomes 50', [rate(1000), 48], rate(50)],
    ['above 60 on a fine lattice becomes 60', [rate(1000), 90], rate(60)],
    ['slightly above 30 becomes 30', [rate(600), 30.4], rate(30)],
  ])('%s', (_, source, expected) => expect(frameRateFor(toSource(source))).toEqual(expected));
});

describe('a low frame rate', () => {
  test.each<Case>([
    ['a slide show keeps its one frame per second', [rate(1), 1], rate(1)],
    ['a surveillance camera keeps its rate', [rate(5, 2), 2.5], rate(5, 2)],
    ['a frame each 1000 seconds is repeated once per second', [rate(1, 1000), 0.001], rate(1)],
    ['a rate that is printed as zero counts as the lowest', [rate(1, 100_000), 0], rate(1)],
    ['long pauses between bursts are not filled at the rate of the bursts', [rate(30), 0.001], rate(1)],
    ['a screen recording that mostly stands still stays smooth', [rate(60), 3], rate(30)],
    ['a source of few frames gets ten for each of its own', [rate(60), 1.5], rate(15)],
  ])('%s', (_, source, expected) => expect(frameRateFor(toSource(source))).toEqual(expected));
});

describe('the fields of interlaced video', () => {
  const fields = (source: FrameRates) => frameRateFor(fieldRate({ interlaced: true }, toSource(source)));

  test.each<Case>([
    ['of 25 frames per second become 50 frames', [rate(25), 25], rate(50)],
    ['of 29.97 frames per second become 59.94 frames', [rate(30_000, 1001), 29.97], rate(60_000, 1001)],
    ['are already counted by some containers', [rate(50), 25], rate(50)],
    ['are frames in some files', [rate(50), 50], rate(50)],
    ['between progressive frames keep their rate', [rate(30_000, 1001), 23.976], rate(60_000, 1001)],
    ['at an unknown rate become 30', [null, null], rate(30)],
  ])('%s', (_, source, expected) => expect(fields(source)).toEqual(expected));

  test('progressive video has none', () => {
    const source = { rate: rate(25), average: 25 };
    expect(fieldRate({ interlaced: false }, source)).toEqual(source);
    expect(fieldRate(null, source)).toEqual(source);
  });
});
