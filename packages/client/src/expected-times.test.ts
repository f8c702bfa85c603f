// Tests what people read about the time until a video is ready.
import { expect, test } from 'vitest';
import { formatExpectedTimes } from './expected-times.ts';

const NOW = new Date('2026-11-22T10:00:00.000Z');
const after = (seconds: number) => new Date(NOW.getTime() + seconds * 1000).toISOString();
const UNKNOWN = {
  expected_playable_at: null,
  expected_ready_at: null,
  expected_ready_range: null,
  queue_position: null,
};

test.each([
  [UNKNOWN, null],
  [{ ...UNKNOWN, queue_position: 0 }, null],
  [{ ...UNKNOWN, queue_position: 4 }, 'number 4 in the queue'],
  [{ ...UNKNOWN, expected_ready_at: after(-5) }, 'ready in about 1 s'],
  [
    {
      expected_playable_at: after(20),
      expected_ready_at: after(180),
      expected_ready_range: { earliest_at: after(90), latest_at: after(7200) },
      queue_position: 2,
    },
    'playable in about 20 s, ready in about 3 min (90 s to 2 h), number 2 in the queue',
  ],
  [
    {
      ...UNKNOWN,
      expected_playable_at: after(9),
      expected_ready_at: after(9),
      expected_ready_range: { earliest_at: after(9), latest_at: after(9) },
    },
    'ready in about 9 s',
  ],
])('%j reads as %s', (asset, text) => {
  expect(formatExpectedTimes(asset, NOW)).toBe(text);
});
