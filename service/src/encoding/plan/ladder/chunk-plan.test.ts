// Tests that chunks cover a video without gaps, and which videos are divided.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { estimateChunkBytes, isChunkable, planChunks } from './chunk-plan.ts';
import { gridSegmentStarts, keyFrameExpression } from '../arguments/encode-plan.ts';
import { chooseLadder } from './ladder.ts';

const RATES = [
  { numerator: 30, denominator: 1 },
  { numerator: 25, denominator: 1 },
  { numerator: 24_000, denominator: 1001 },
  { numerator: 30_000, denominator: 1001 },
  { numerator: 60, denominator: 1 },
  { numerator: 1, denominator: 1 },
];
const MAX_CHUNKS = 720;

const timelines = fc.record({
  frameRate: fc.constantFrom(...RATES),
  frames: fc.integer({ min: 1, max: 3600 * 30 }),
});
const chunkLengths = fc.integer({ min: 1, max: 30 }).map((segments) => segments * 4);

/** Segments of irregular lengths, as a copied stream has them. */
const irregular = fc.array(fc.integer({ min: 60, max: 400 }), { minLength: 1, maxLength: 300 });

describe('chunks', () => {
  test('cover the video from its first frame to its last, without overlap', () => {
    fc.assert(
      fc.property(timelines, chunkLengths, (timeline, chunkSeconds) => {
        const chunks = planChunks({
          segmentStarts: gridSegmentStarts(timeline),
          frames: timeline.frames,
          chunkSeconds,
        });
        const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);
        const before = (at: number, of: (chunk: (typeof chunks)[number]) => number) =>
          sum(chunks.slice(0, at).map(of));
        expect(chunks.map(({ number }) => number)).toEqual(chunks.map((_, at) => at));
        expect(chunks.map(({ firstFrame }) => firstFrame)).toEqual(
          chunks.map((_, at) => before(at, ({ frames }) => frames)),
        );
        expect(chunks.map(({ firstSegment }) => firstSegment)).toEqual(
          chunks.map((_, at) => before(at, ({ segmentFrames }) => segmentFrames.length)),
        );
        expect(chunks.map(({ segmentFrames }) => sum(segmentFrames))).toEqual(
          chunks.map(({ frames }) => frames),
        );
        expect(before(chunks.length, ({ frames }) => frames)).toBe(timeline.frames);
        expect(chunks.map(({ isLast }) => isLast)).toEqual(chunks.map((_, at) => at === chunks.length - 1));
      }),
    );
  });

  test('are whole segments: only the last one of the video may be shorter or longer', () => {
    fc.assert(
      fc.property(timelines, chunkLengths, (timeline, chunkSeconds) => {
        const segmentStarts = gridSegmentStarts(timeline);
        const chunks = planChunks({ segmentStarts, frames: timeline.frames, chunkSeconds });
        const segments = chunks.flatMap(({ segmentFrames }) => segmentFrames);
        const full = segments[0] ?? 0;
        expect(segments.slice(0, -1).every((frames) => frames === full)).toBe(true);
        if (segments.length > 1) expect(segments.at(-1)).toBeGreaterThanOrEqual(full / 2);
        if (segments.length > 1) expect(segments.at(-1)).toBeLessThan(full * 1.5);
      }),
    );
  });

  test('have at least the requested length, nearly the same length, and a maximum number', () => {
    fc.assert(
      fc.property(irregular, chunkLengths, (lengths, chunkSeconds) => {
        let frames = 0;
        const segmentStarts = lengths.map((length) => {
          frames += length;
          return frames - length;
        });
        const chunks = planChunks({ segmentStarts, frames, chunkSeconds });
        const counts = chunks.map(({ segmentFrames }) => segmentFrames.length);
        expect(chunks.flatMap(({ segmentFrames }) => segmentFrames)).toEqual(lengths);
        expect(chunks.length).toBeLessThanOrEqual(MAX_CHUNKS);
        expect(Math.max(...counts) - Math.min(...counts)).toBeLessThanOrEqual(1);
        if (chunks.length > 1) expect(Math.min(...counts)).toBeGreaterThanOrEqual(chunkSeconds / 4);
      }),
    );
  });

  test('end where the key frames of a whole run end its segments', () => {
    fc.assert(
      fc.property(timelines, chunkLengths, (timeline, chunkSeconds) => {
        const frames = Math.min(timeline.frames, 3000);
        const whole = { ...timeline, frames };
        const chunks = planChunks({ segmentStarts: gridSegmentStarts(whole), frames, chunkSeconds });
        const inChunks = chunks.flatMap((chunk) =>
          keyFrames({ ...whole, frames: chunk.frames }).map((frame) => frame + chunk.firstFrame),
        );
        expect(inChunks).toEqual(keyFrames(whole));
      }),
    );
  });
});

/** The frames that the expression makes key frames, computed as ffmpeg does. */
function keyFrames(timeline: Parameters<typeof keyFrameExpression>[0]): number[] {
  const [group = 0, limit = 0] = (keyFrameExpression(timeline).match(/\d+/g) ?? []).map(Number);
  return Array.from({ length: timeline.frames }, (_, n) => n).filter((n) => n % group === 0 && n < limit);
}

describe('a video is divided', () => {
  const [rate] = RATES as [(typeof RATES)[number]];
  const SOURCE: Parameters<typeof isChunkable>[0] = {
    container: 'mov',
    video: { averageRate: 29.9 },
    frame: { frameRate: rate, interlaced: false },
    timeline: { holdSeconds: 0.1 },
  };
  test.each(['mov', 'matroska'] as const)('in %s', (container) => {
    expect(isChunkable({ ...SOURCE, container })).toBe(true);
  });
  test.each(['mpegts', 'avi', 'flv', 'mpeg'] as const)('but not in %s, which has no index', (container) => {
    expect(isChunkable({ ...SOURCE, container })).toBe(false);
  });
  test.each([
    ['interlaced', { frame: { frameRate: rate, interlaced: true } }],
    ['of a variable frame rate', { video: { averageRate: 12 } }],
    ['of an unknown frame rate', { frame: { frameRate: null, interlaced: false } }],
    ['whose audio is much longer', { timeline: { holdSeconds: 8 } }],
  ])('but not one %s', (_, change) => {
    expect(isChunkable({ ...SOURCE, ...change })).toBe(false);
  });
});

test('a chunk needs the space of its own length', () => {
  const rungs = chooseLadder({ width: 640, height: 360 });
  const timeline = {
    leadInSeconds: 0,
    frameRate: { numerator: 30, denominator: 1 },
    frames: 30 * 3600,
    durationSeconds: 3600,
    holdSeconds: 0,
  };
  const [chunk] = planChunks({
    segmentStarts: gridSegmentStarts(timeline),
    frames: timeline.frames,
    chunkSeconds: 60,
  });
  const bytes = estimateChunkBytes({ rungs, timeline, chunk } as Parameters<typeof estimateChunkBytes>[0]);
  expect(bytes).toBe(((700 + 350) * 1000 * 60) / 8);
});
