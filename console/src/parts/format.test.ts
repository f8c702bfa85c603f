// Counts as sentences have them.
import { expect, test } from 'vitest';
import { formatCountOf } from './format.ts';

test.each([
  [0, '0 assets'],
  [1, '1 asset'],
  [12_345, '12,345 assets'],
])('%i', (count, expected) => {
  expect(formatCountOf(count, 'asset')).toBe(expected);
});

test('a verb follows its noun', () => {
  expect(formatCountOf(1, 'event is', 'events are')).toBe('1 event is');
  expect(formatCountOf(2, 'event is', 'events are')).toBe('2 events are');
});
