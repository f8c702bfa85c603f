// Tests the speed and the remaining time of an upload.
import { expect, test } from 'vitest';
import { createPace } from './pace.ts';

function measure(total: number, samples: readonly (readonly [ms: number, bytes: number])[]) {
  let time = 0;
  const pace = createPace(total, () => time);
  return samples.map(([ms, bytes]) => {
    time = ms;
    return pace('uploading', bytes);
  });
}
const UNKNOWN = { bytesPerSecond: null, secondsLeft: null };

test('is known after half a second', () => {
  const [start, soon, later] = measure(1000, [
    [0, 0],
    [100, 300],
    [1000, 500],
  ]);
  expect([start, soon]).toEqual([UNKNOWN, UNKNOWN]);
  expect(later).toEqual({ bytesPerSecond: 500, secondsLeft: 1 });
});

test('follows the last seconds', () => {
  const paces = measure(
    100_000,
    Array.from({ length: 21 }, (_, second) => [
      second * 1000,
      second <= 10 ? second * 1000 : 10_000 + (second - 10) * 100,
    ]),
  );
  expect(paces[10]?.bytesPerSecond).toBe(1000);
  expect(paces[20]?.bytesPerSecond).toBe(100);
});

test('begins again with a request that starts again', () => {
  const paces = measure(1000, [
    [0, 0],
    [1000, 900],
    [1100, 0],
    [2100, 100],
  ]);
  expect(paces[2]).toEqual(UNKNOWN);
  expect(paces[3]).toEqual({ bytesPerSecond: 100, secondsLeft: 9 });
});
