// Tests that at most one range is accepted, and that it lies within the object (RFC 9110 §14).
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseRange } from './byte-range.ts';

describe('a range of 10 bytes', () => {
  test.each([
    ['bytes=0-0', { start: 0, end: 0 }],
    ['bytes=0-9', { start: 0, end: 9 }],
    ['bytes=9-9', { start: 9, end: 9 }],
    ['bytes=3-', { start: 3, end: 9 }],
    ['bytes=3-99', { start: 3, end: 9 }],
    ['bytes=-1', { start: 9, end: 9 }],
    ['bytes=-10', { start: 0, end: 9 }],
    ['bytes=-99', { start: 0, end: 9 }],
    ['bytes=000-001', { start: 0, end: 1 }],
  ])('%s is sent', (header, range) => expect(parseRange(header, 10)).toEqual(range));

  test.each(['bytes=10-', 'bytes=10-20', 'bytes=999999999999999-', 'bytes=-0'])('%s lies outside', (header) =>
    expect(parseRange(header, 10)).toBe('unsatisfiable'),
  );

  test.each([
    undefined,
    '',
    'bytes',
    'bytes=',
    'bytes=-',
    'bytes=5-3',
    'bytes=0-1,3-4',
    'bytes=0-0,-1',
    'bytes = 0-1',
    'bytes=0 -1',
    'items=0-1',
    'xbytes=0-1',
    'bytes=a-b',
    'bytes=0x1-2',
    'bytes=-1-2',
    'bytes=1.5-2',
    'bytes=١-٢',
    `bytes=0-${'9'.repeat(16)}`,
    'bytes=0-1\n',
  ])('%j is answered with the whole', (header) => expect(parseRange(header, 10)).toBeUndefined());
});

test('an empty object has no satisfiable range', () => {
  expect(parseRange('bytes=0-', 0)).toBe('unsatisfiable');
  expect(parseRange('bytes=-5', 0)).toBe('unsatisfiable');
});

test('every range that is sent lies within the object', () => {
  const part = fc.oneof(
    fc.constant(''),
    fc.nat({ max: 30 }).map(String),
    fc.nat({ max: 999_999_999 }).map(String),
  );
  fc.assert(
    fc.property(part, part, fc.nat({ max: 20 }), (first, last, size) => {
      const range = parseRange(`bytes=${first}-${last}`, size);
      if (range === undefined || range === 'unsatisfiable') return;
      expect(0 <= range.start && range.start <= range.end && range.end < size).toBe(true);
      if (first !== '') expect(range.start).toBe(Number(first));
    }),
  );
});
