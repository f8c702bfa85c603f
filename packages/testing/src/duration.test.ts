// Durations of the clock, as tests write them.
import { expect, test } from 'vitest';
import { type Duration, toMilliseconds } from './duration.ts';

test.each([
  ['250ms', 250],
  ['1.5s', 1500],
  ['2m', 120_000],
  ['2h', 7_200_000],
  ['40d', 3_456_000_000],
] as const)('%s is %d ms', (duration, ms) => {
  expect(toMilliseconds(duration)).toBe(ms);
});

test.each(['2 hours', '-1h', '1e3s', '2', 'h'])('%s is refused with what is allowed', (text) => {
  expect(() => toMilliseconds(text as Duration)).toThrow(
    `"${text}" is not a duration. Allowed: a number and ms, s, m, h or d, such as 2h`,
  );
});
