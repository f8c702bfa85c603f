// Tests the estimate of the encoding cost, its limits and messages.
import { describe, expect, test } from 'vitest';
import { assertCost, assertDuration, DEFAULT_ENCODE_LIMITS, encodeCost, timeLimitMs } from './encode-cost.ts';
import { chooseLadder, DEFAULT_LADDER } from './ladder.ts';
import type { Timeline } from '../source/source-timeline.ts';

const planOf = (seconds: number, perSecond = 30, size = { width: 1920, height: 1080 }) => ({
  timeline: {
    leadInSeconds: 0,
    frameRate: { numerator: perSecond, denominator: 1 },
    frames: seconds * perSecond,
    durationSeconds: seconds,
    holdSeconds: 0,
  } satisfies Timeline,
  rungs: chooseLadder(size),
});
const HOUR = 3600;

test('the cost is the pixels of all frames of all renditions', () => {
  expect(encodeCost(planOf(10, 30, { width: 640, height: 360 }))).toBe(300 * (640 * 360 + 426 * 240));
  expect(encodeCost(planOf(1, 1))).toBe(1920 * 1080 + 1280 * 720 + 854 * 480 + 640 * 360 + 426 * 240);
});

test('a further codec costs more than H.264', () => {
  const ladder = { ...DEFAULT_LADDER, extraCodecs: ['av1'] as const };
  const rungs = chooseLadder({ width: 640, height: 360 }, { ladder });
  const plain = planOf(10, 30, { width: 640, height: 360 });
  expect(encodeCost({ ...plain, rungs })).toBe(3.5 * encodeCost(plain));
});

describe('the default limits', () => {
  test('allow twelve hours of 1080p at 30 frames per second, and no more', () => {
    const allowed = planOf(12 * HOUR);
    expect(() => assertDuration(allowed.timeline, DEFAULT_ENCODE_LIMITS)).not.toThrow();
    expect(() => assertCost(allowed, DEFAULT_ENCODE_LIMITS)).not.toThrow();
  });
  test('reject longer videos, with the numbers', () => {
    expect(() => assertDuration(planOf(12 * HOUR + 1).timeline, DEFAULT_ENCODE_LIMITS)).toThrow(
      expect.objectContaining({
        code: 'too_long',
        message: 'The video is 43201 s long. The limit is 43200 s. Upload a shorter video.',
      }),
    );
  });
  test('reject more expensive videos, with the numbers', () => {
    expect(() => assertCost(planOf(8 * HOUR, 60), DEFAULT_ENCODE_LIMITS)).toThrow(
      expect.objectContaining({
        code: 'too_demanding',
        message: expect.stringMatching(
          new RegExp(
            '^Encoding this video costs \\d+ output pixels ' +
              '\\(28800 s at 60 frames per second in 1080p, 720p, 480p, 360p, 240p\\)\\. ' +
              'The limit is 5000000000000\\. Upload',
          ),
        ),
      }),
    );
  });
});

test('the time limit follows the cost, and ends before the job expires', () => {
  expect(timeLimitMs(0)).toBe(600_000);
  expect(timeLimitMs(3_000_000_000)).toBe(1_600_000);
  expect(timeLimitMs(5_000_000_000_000)).toBe(23 * HOUR * 1000);
});
