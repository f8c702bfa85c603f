// Tests the parser with recorded logs of both ffmpeg versions in use.
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { parseSourceFacts } from './source-facts.ts';

const readLog = (name: string) => readFileSync(new URL(`ffmpeg-logs/${name}`, import.meta.url), 'utf8');

const ROTATED_5_1 = readLog('rotated-5.1.txt');
const ROTATED_7_0 = readLog('rotated-7.0.txt');
const INTERLACED_7_0 = readLog('interlaced-7.0.txt');
const PQ_5_1 = readLog('pq-5.1.txt');
const COVER_7_0 = readLog('cover-7.0.txt');
const ENCRYPTED_5_1 = readLog('encrypted-5.1.txt');

describe('source facts', () => {
  test.each([
    ['5.1', ROTATED_5_1],
    ['7.0', ROTATED_7_0],
  ])('a rotated video in the log of ffmpeg %s', (_, log) => {
    expect(parseSourceFacts(log, 'mov')).toEqual({
      durationSeconds: 2,
      startSeconds: 0,
      streams: [
        {
          index: 0,
          kind: 'Video',
          codec: 'h264',
          tag: 'avc1',
          size: { width: 320, height: 180 },
          averageRate: 30,
          still: false,
          dispositions: ['default'],
        },
        {
          index: 1,
          kind: 'Audio',
          codec: 'aac',
          tag: 'mp4a',
          size: null,
          averageRate: null,
          channels: 1,
          sampleRate: 48_000,
          still: false,
          dispositions: ['default'],
        },
      ],
      frame: {
        displaySize: { width: 180, height: 320 },
        frameRate: { numerator: 30, denominator: 1 },
        interlaced: false,
        transfer: 'sdr',
        primaries: 'unknown',
        bitDepth: 8,
        startSeconds: 0,
        peakNits: null,
        matrix: 'unknown',
        fullRange: false,
        pixelFormat: 'yuv420p',
      },
      isRotated: true,
    });
  });

  test.each(['5.1', '7.0'])('languages, titles and flags in the log of ffmpeg %s', (version) => {
    const streams = parseSourceFacts(readLog(`languages-${version}.txt`), 'matroska')?.streams ?? [];
    expect(
      streams.map(({ language, title, dispositions, channels }) => [language, title, dispositions, channels]),
    ).toEqual([
      [undefined, undefined, undefined, undefined],
      ['eng', undefined, undefined, 1],
      ['ger', 'Deutsch (Kommentar)', ['comment'], 1],
      ['fre', undefined, ['default'], 6],
    ]);
  });
  test('a codec without a name still has the tag of its container', () => {
    const log = ROTATED_7_0.replace(
      /Audio: aac \(LC\) \(mp4a \/ 0x6134706D\)/,
      'Audio: none (apac / 0x63617061)',
    );
    expect(parseSourceFacts(log, 'mov')?.streams[1]).toMatchObject({ codec: 'none', tag: 'apac' });
  });
  test('interlaced fields and non-square pixels', () => {
    const facts = parseSourceFacts(INTERLACED_7_0, 'mpegts');
    expect(facts?.frame).toMatchObject({ interlaced: true, displaySize: { width: 1024, height: 576 } });
  });
  test('pixels that are taller than wide stretch the height', () => {
    const facts = parseSourceFacts(ROTATED_7_0.replaceAll('sar:1/1', 'sar:9/16'), 'mov');
    expect(facts?.frame?.displaySize).toEqual({ width: 180, height: 569 });
  });
  test('an undefined pixel aspect is square', () => {
    expect(parseSourceFacts(ROTATED_7_0.replaceAll('sar:1/1', 'sar:0/1'), 'mov')?.frame?.displaySize).toEqual(
      {
        width: 180,
        height: 320,
      },
    );
  });
  test('the clock of a transport stream is ignored', () => {
    expect(parseSourceFacts(INTERLACED_7_0, 'mpegts')).toMatchObject({
      durationSeconds: null,
      startSeconds: 0,
    });
  });

  test('high dynamic range, exact frame rate, negative start', () => {
    const facts = parseSourceFacts(PQ_5_1, 'matroska');
    expect(facts).toMatchObject({ durationSeconds: 1.01, startSeconds: -0.007 });
    expect(facts?.frame).toMatchObject({
      transfer: 'pq',
      matrix: 'bt2020nc',
      frameRate: { numerator: 24000, denominator: 1001 },
    });
    expect(
      parseSourceFacts(PQ_5_1.replace('color_trc:smpte2084', 'color_trc:arib-std-b67'), 'matroska')?.frame
        ?.transfer,
    ).toBe('hlg');
  });
  test.each(['5.1', '7.0'])('the light level in the log of ffmpeg %s', (version) => {
    const log = readLog(`light-${version}.txt`);
    const frameOf = (words: string) => parseSourceFacts(words, 'mov')?.frame;
    expect(frameOf(log)).toMatchObject({ primaries: 'bt2020', bitDepth: 10, peakNits: 3200 });
    // Zero stands for an unknown light level, so the mastering display counts.
    expect(frameOf(log.replace('MaxCLL=3200', 'MaxCLL=0'))?.peakNits).toBe(4000);
    expect(frameOf(log.replaceAll(/^.*side data.*$/gm, ''))?.peakNits).toBeNull();
  });
  test('the base layer of Dolby Vision', () => {
    const [video] = parseSourceFacts(readLog('dolby-vision-7.0.txt'), 'mov')?.streams ?? [];
    expect(video).toMatchObject({ codec: 'hevc', dolbyVisionCompatibility: 4 });
    expect(parseSourceFacts(PQ_5_1, 'matroska')?.streams[0]).not.toHaveProperty('dolbyVisionCompatibility');
  });
  test('metadata that imitates a stream is ignored', () =>
    expect(parseSourceFacts(PQ_5_1, 'matroska')?.streams).toHaveLength(2));
  test('a language can have a region', () => {
    expect(parseSourceFacts(PQ_5_1.replace('(deu)', '(pt-BR)'), 'matroska')?.streams[1]).toMatchObject({
      kind: 'Audio',
      codec: 'opus',
    });
  });

  test("a cover is a still image, and the decoder's name is not the codec's", () => {
    expect(parseSourceFacts(COVER_7_0, 'mov')).toMatchObject({
      streams: [
        { codec: 'mp3', still: false },
        { codec: 'mjpeg', still: true, averageRate: null },
      ],
      frame: null,
    });
  });
  test('no frame and no duration are null', () => {
    expect(parseSourceFacts(ENCRYPTED_5_1, 'mov')).toMatchObject({
      durationSeconds: null,
      startSeconds: 0,
      frame: null,
    });
  });
  test('a file that could not be opened has no facts', () => {
    expect(
      parseSourceFacts('[in#0 @ 0x55ade7042d40] Error opening input: Invalid argument\n', 'mov'),
    ).toBeUndefined();
  });
});
