// Tests what of a source its renditions in HDR keep, and how encoders are told.
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { findHdrRange, parseHdrMetadata, toSvtAv1Options, toX265Options } from './hdr-source.ts';
import type { HdrMetadata, FrameFacts } from '../../model/source.ts';
import { parseSourceFacts } from './source-facts.ts';

const readLog = (name: string) => readFileSync(new URL(`ffmpeg-logs/${name}`, import.meta.url), 'utf8');
const LIGHT = readLog('light-7.0.txt');
const METADATA: HdrMetadata = {
  masteringDisplay: {
    red: [0.68, 0.32],
    green: [0.265, 0.69],
    blue: [0.15, 0.06],
    white: [0.3127, 0.329],
    minNits: 0.005,
    maxNits: 4000,
  },
  lightLevel: { maxNits: 3200, averageNits: 400 },
};

describe('the metadata for displays', () => {
  test.each(['5.1', '7.0'])('in the log of ffmpeg %s', (version) =>
    expect(parseHdrMetadata(readLog(`light-${version}.txt`))).toEqual(METADATA),
  );
  test('is empty where the source has none', () =>
    expect(parseHdrMetadata(readLog('pq-5.1.txt'))).toEqual({}));
  test.each([
    ['a display without primaries', 'has_primaries:1', 'has_primaries:0'],
    ['a display without luminance', 'has_luminance:1', 'has_luminance:0'],
    ['a coordinate of zero', 'r(0.6800,', 'r(0.0000,'],
    ['a coordinate above one', 'g(0.2650,', 'g(1.3107,'],
    ['a display that is all black', 'max_luminance=4000.000000', 'max_luminance=0.000000'],
    ['a minimum above the maximum', 'min_luminance=0.005000', 'min_luminance=5000.000000'],
    ['a display brighter than PQ', 'max_luminance=4000.000000', 'max_luminance=400000.000000'],
    ['a luminance that is no number', 'max_luminance=4000.000000', 'max_luminance=4.0.0'],
  ])('omits %s', (_, from, to) =>
    expect(parseHdrMetadata(LIGHT.replace(from, to))).toEqual({ lightLevel: METADATA.lightLevel }),
  );
  test.each([
    ['an unknown light level', 'MaxCLL=3200', 'MaxCLL=0'],
    ['a light level brighter than PQ', 'MaxCLL=3200', 'MaxCLL=65535'],
    ['an average above the maximum', 'MaxFALL=400', 'MaxFALL=4000'],
  ])('omits %s', (_, from, to) =>
    expect(parseHdrMetadata(LIGHT.replace(from, to))).toEqual({
      masteringDisplay: METADATA.masteringDisplay,
    }),
  );
  test('is not read from text of the file', () => {
    const tags = LIGHT.replaceAll(/^\[Parsed_showinfo.*side data/gm, '        title           : side data');
    expect(parseHdrMetadata(tags)).toEqual({});
  });
  test('is stated to x265 in its units', () => {
    expect(toX265Options(METADATA)).toEqual([
      'hdr10=1',
      'master-display=G(13250,34500)B(7500,3000)R(34000,16000)WP(15635,16450)L(40000000,50)',
      'max-cll=3200,400',
    ]);
    expect(toX265Options({})).toEqual([]);
  });
  test('is stated to SVT-AV1', () => {
    expect(toSvtAv1Options(METADATA)).toEqual([
      'mastering-display=G(0.265,0.69)B(0.15,0.06)R(0.68,0.32)WP(0.3127,0.329)L(4000,0.005)',
      'content-light=3200,400',
    ]);
    expect(toSvtAv1Options({})).toEqual([]);
  });
});

describe('the range that is kept', () => {
  const frame = parseSourceFacts(LIGHT, 'mov')?.frame as FrameFacts;
  const rangeOf = (more: Partial<FrameFacts>, video = {}) =>
    findHdrRange({ frame: { ...frame, ...more }, video });

  test('is that of the source', () => {
    expect(rangeOf({})).toBe('pq');
    expect(rangeOf({ transfer: 'hlg' })).toBe('hlg');
    expect(rangeOf({ matrix: 'unknown', bitDepth: 12 })).toBe('pq');
  });
  test.each([
    ['SDR', { transfer: 'sdr' }],
    ['8 bits', { bitDepth: 8 }],
    ['the primaries of BT.709', { primaries: 'bt709' }],
    ['the primaries of P3', { primaries: 'smpte432' }],
    ['unknown primaries', { primaries: 'unknown' }],
    ['a constant luminance', { matrix: 'bt2020c' }],
    ['the matrix of BT.709', { matrix: 'bt709' }],
    ['RGB', { matrix: 'gbr' }],
  ] as const)('is none for %s', (_, more) => expect(rangeOf(more)).toBeUndefined());
  test('is that of the base layer of Dolby Vision, where other players show it', () => {
    const log = readLog('dolby-vision-7.0.txt');
    const rangeIn = (words: string) => {
      const facts = parseSourceFacts(words, 'mov');
      return (
        facts?.frame && facts.streams[0] && findHdrRange({ frame: facts.frame, video: facts.streams[0] })
      );
    };
    expect(rangeIn(log)).toBe('hlg');
    expect(rangeIn(log.replace('compatibility id: 4', 'compatibility id: 0'))).toBeUndefined();
  });
});
