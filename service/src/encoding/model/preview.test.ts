// Tests which parts of a video its preview shows.
import { expect, test } from 'vitest';
import { planPreview } from './preview.ts';

test('a short video is shown from its beginning', () => {
  expect(planPreview(1.5)).toEqual([{ start: 0, end: 1.5 }]);
  expect(planPreview(7.9)).toEqual([{ start: 0, end: 4 }]);
});

test.each([8, 60, 43_200])('four parts of %d s, spread over the video, without overlap', (seconds) => {
  const parts = planPreview(seconds);
  expect(parts.map(({ start }) => start / seconds)).toEqual([0.125, 0.375, 0.625, 0.875]);
  for (const [index, { start, end }] of parts.entries()) {
    expect(end - start).toBeCloseTo(1);
    expect(end).toBeLessThanOrEqual(parts[index + 1]?.start ?? seconds);
  }
});
