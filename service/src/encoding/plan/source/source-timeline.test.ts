// Tests durations and the detection of truncated sources with wrong container durations.
import { describe, expect, test } from 'vitest';
import { FRAME } from '../../model/source.fixture.ts';
import type { SourceFacts } from '../../model/source.ts';
import { isTruncated, missingSeconds, computeTimeline } from './source-timeline.ts';

const VIDEO = 0;
const SOUND = 1;
const BYTES = 100_000_000;
const rate = (numerator: number, denominator = 1) => ({ numerator, denominator });

const facts = (durationSeconds: number | null, startSeconds = 0, frameRate = rate(25)): SourceFacts => ({
  durationSeconds,
  startSeconds,
  streams: [
    {
      index: VIDEO,
      kind: 'Video',
      codec: 'h264',
      size: null,
      averageRate: frameRate.numerator / frameRate.denominator,
      still: false,
    },
  ],
  frame: { ...FRAME, frameRate },
  isRotated: false,
});

const timeline = (source: SourceFacts, ...packetEnds: [number, number][]) => {
  const ends = new Map(packetEnds);
  return computeTimeline({
    facts: source,
    videoIndex: VIDEO,
    ends,
    missing: missingSeconds(source, ends),
    bytes: BYTES,
  });
};

test('a claimed rate counts only where the file is large enough to hold its frames', () => {
  const source = facts(43_200, 0, rate(30));
  const ends = new Map([[VIDEO, 43_200]]);
  const framesOf = (bytes: number) =>
    computeTimeline({ facts: source, videoIndex: VIDEO, ends, missing: 0, bytes }).frames;
  expect([framesOf(8000), framesOf(40_000_000)]).toEqual([43_200, 30 * 43_200]);
});

describe('timeline', () => {
  test('video and audio of the same duration', () => {
    expect(timeline(facts(6.02), [VIDEO, 6], [SOUND, 6.016])).toMatchObject({
      leadInSeconds: 0,
      frames: 150,
      durationSeconds: 6,
    });
  });
  test('longer audio repeats the last frame', () => {
    expect(timeline(facts(11), [VIDEO, 6], [SOUND, 11])).toMatchObject({
      frames: 275,
      durationSeconds: 11,
      holdSeconds: 5,
    });
  });
  test('longer video needs no repeated frame', () => {
    expect(timeline(facts(6), [VIDEO, 6], [SOUND, 2])).toMatchObject({ frames: 150, holdSeconds: 0 });
  });
  test('a last frame with a longer duration is shown longer', () => {
    expect(timeline(facts(6.3), [VIDEO, 6])).toMatchObject({
      durationSeconds: 6.32,
      holdSeconds: expect.closeTo(0.3),
    });
  });
  test('audio has the duration of its packets, not that of the container', () => {
    expect(timeline(facts(6.4), [VIDEO, 5.9], [SOUND, 6])).toMatchObject({ durationSeconds: 6 });
  });
  test('an empty beginning belongs to the video', () => {
    expect(timeline(facts(5, 0.24), [VIDEO, 5])).toMatchObject({
      leadInSeconds: 0.24,
      durationSeconds: 5.24,
    });
  });
  test.each([
    ['at once', { start: 0, frameAt: 0 }, 0],
    ['a little after the audio', { start: 0, frameAt: 0.08 }, -0.08],
    ['a little after an empty beginning', { start: 0.05, frameAt: 0.04 }, -0.04],
    ['later', { start: 0, frameAt: 0.11 }, 0],
    ['later, after an empty beginning', { start: 0.08, frameAt: 0.04 }, 0.08],
  ])('a first frame %s starts the video, unless it is late', (_, { start, frameAt }, leadInSeconds) => {
    const { frame, ...source } = facts(6, start);
    const late = { ...source, frame: frame && { ...frame, startSeconds: frameAt } };
    expect(timeline(late, [VIDEO, 6], [SOUND, 6])).toMatchObject({
      leadInSeconds,
      durationSeconds: Math.round((6 + leadInSeconds) * 25) / 25,
    });
  });
  test('a clock that starts late does not', () => {
    expect(timeline(facts(5, 3600), [VIDEO, 5])).toMatchObject({ leadInSeconds: 0, durationSeconds: 5 });
    expect(timeline(facts(5, -0.02), [VIDEO, 5])).toMatchObject({ leadInSeconds: 0, durationSeconds: 5 });
  });
  test('interlaced video has a frame for each field', () => {
    const { frame, ...source } = facts(10, 0, rate(25));
    const interlaced = { ...source, frame: frame && { ...frame, interlaced: true } };
    expect(timeline(interlaced, [VIDEO, 10])).toMatchObject({ frameRate: rate(50), frames: 500 });
  });
  test('a high frame rate is halved, not the duration', () => {
    expect(timeline(facts(10, 0, rate(120_000, 1001)), [VIDEO, 10])).toMatchObject({
      frameRate: rate(60_000, 1001),
      frames: 599,
      durationSeconds: expect.closeTo(10, 1),
    });
  });
  test('one frame at least', () => expect(timeline(facts(0.001), [VIDEO, 0.001]).frames).toBe(1));
  test('a very short video with sound repeats its last frame', () => {
    const silent = facts(0.08);
    const sound = { index: SOUND, kind: 'Audio', codec: 'aac', size: null, averageRate: null, still: false };
    const audible = { ...silent, streams: [...silent.streams, sound as SourceFacts['streams'][number]] };
    expect(timeline(silent, [VIDEO, 0.08])).toMatchObject({ frames: 2 });
    expect(timeline(audible, [VIDEO, 0.08], [SOUND, 0.08])).toMatchObject({
      frames: 5,
      durationSeconds: 0.2,
    });
  });
  test('frames are counted at the exact rate', () => {
    expect(timeline(facts(10.01, 0, rate(30000, 1001)), [VIDEO, 10.01])).toMatchObject({
      frames: 300,
      durationSeconds: 10.01,
    });
  });
});

describe('missing seconds', () => {
  const missing = (source: SourceFacts, ...ends: [number, number][]) => missingSeconds(source, new Map(ends));

  test('half of the video', () => {
    expect(missing(facts(30), [VIDEO, 11.4])).toBeCloseTo(18.6);
    expect(isTruncated(missing(facts(30), [VIDEO, 11.4]))).toBe(true);
  });
  test('all of it', () => expect(isTruncated(missing(facts(30)))).toBe(true));
  test('the stream that lasts longest counts, whichever it is', () =>
    expect(missing(facts(30), [VIDEO, 6], [7, 30])).toBe(0));
  test('hundredths are rounding', () => expect(missing(facts(30.02), [VIDEO, 30])).toBe(0));
  test('a fraction of a second is no truncation', () => {
    expect(missing(facts(30.4), [VIDEO, 30])).toBeCloseTo(0.4);
    expect(isTruncated(0.4)).toBe(false);
  });
  test('a claim may count from the first timestamp or from zero', () => {
    expect(missing(facts(30, 0.5), [VIDEO, 30])).toBe(0);
    expect(missing(facts(30.5, 0.5), [VIDEO, 30])).toBe(0);
  });
  test('a late start is not missing time', () => {
    // Matroska claims the absolute end, in hundredths; the packets may end a little after it.
    expect(missing(facts(16, 9.979), [VIDEO, 6.021], [SOUND, 6.037])).toBe(0);
    expect(missing(facts(16, 9.979), [VIDEO, 6.018])).toBe(0);
    expect(missing(facts(16, 9.979), [VIDEO, 2])).toBeCloseTo(4.021);
  });
  test('nothing is missing when the container has a shorter duration or none', () => {
    expect(missing(facts(2), [VIDEO, 6])).toBe(0);
    expect(missing(facts(null), [VIDEO, 6])).toBe(0);
  });
});
