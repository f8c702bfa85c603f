// Tests chapters as people write them.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { formatChapters, parseChapters } from './chapters.ts';

test('a line is a time and a title', () => {
  const text = '0:00 Intro\r\n\n  1:05.5 - The  demo \n12:34 — 3:2 won\n1:02:03.007 End';
  expect(parseChapters(text)).toEqual([
    { start_ms: 0, title: 'Intro' },
    { start_ms: 65_500, title: 'The  demo' },
    { start_ms: 754_000, title: '3:2 won' },
    { start_ms: 3_723_007, title: 'End' },
  ]);
  expect(parseChapters(' \n')).toEqual([]);
});

test.each([
  'Intro',
  '0:00',
  '5 Intro',
  '0:5 Intro',
  '0:60 Intro',
  '-0:01 Intro',
  '1:000:00 Intro',
  '0:00Intro',
])('%j is none', (line) => expect(() => parseChapters(`0:00 First\n${line}`)).toThrow(/^Line 2 must be/));

test('what is formatted reads the same', () => {
  const title = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 20 }).filter(isOneLine);
  const start_ms = fc.integer({ min: 0, max: 2 ** 31 - 1 });
  fc.assert(
    fc.property(fc.array(fc.record({ start_ms, title })), (chapters) => {
      expect(parseChapters(formatChapters(chapters))).toEqual(chapters);
    }),
  );
});

/** A dash before the title is a separator. */
const isOneLine = (text: string): boolean =>
  text.trim() === text && !/[\r\n\u2028\u2029]/.test(text) && !/^[-–—]\s/.test(text);
