// Tests which user ids are accepted.
import { describe, expect, test } from 'vitest';
import { parseUserId } from './user-id.ts';

describe('a user id', () => {
  test.each([
    'a',
    'user-1',
    '0190b8e2-1111-7222-8333-444455556666',
    'a b',
    ' padded ',
    'Zoë 🦊',
    '0',
    '-1',
    'null',
  ])('%j stays as it is', (id) => {
    expect(parseUserId(id)).toBe(id);
  });

  test.each([
    [42, '42'],
    [0, '0'],
    [-0, '0'],
    [-7, '-7'],
    [9007199254740991, '9007199254740991'],
    [1e3, '1000'],
  ])('the integer %d is its decimal text', (id, text) => {
    expect(parseUserId(id)).toBe(text);
  });

  test('takes 255 code points, however many places they need', () => {
    const longest = ['x'.repeat(255), '𝒳'.repeat(255)];
    expect(longest.map(parseUserId)).toEqual(longest);
    expect(
      ['x'.repeat(256), '𝒳'.repeat(256), `${'𝒳'.repeat(254)}xx`, 'x'.repeat(1_000_000)].map(parseUserId),
    ).toEqual(Array(4).fill(undefined));
  });

  test.each([
    '',
    ' ',
    '\u3000\u00a0',
    'a\0b',
    'a\nb',
    '\x7f',
    '\x9f',
    '\ud83e',
    'a\udd8ab',
    1.5,
    9007199254740992,
    1e20,
    Number.NaN,
    Number.POSITIVE_INFINITY,
    null,
    undefined,
    true,
    [],
    ['a'],
    {},
    { toString: () => 'a' },
  ])('%j is nobody', (id) => {
    expect(parseUserId(id)).toBeUndefined();
  });
});
