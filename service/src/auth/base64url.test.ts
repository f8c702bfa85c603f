import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { fromBase64url, toBase64url } from './base64url.ts';

describe('base64url', () => {
  test('reads back what it wrote', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 100 }), (bytes) => {
        expect(fromBase64url(toBase64url(Buffer.from(bytes)))).toEqual(Buffer.from(bytes));
      }),
    );
  });

  test('has one text for each byte string: whatever it reads, it would write the same', () => {
    const nearly = fc.string({ unit: fc.constantFrom(...'ABYZabyz0189-_+/= \n.~é'), maxLength: 12 });
    fc.assert(
      fc.property(nearly, (text) => {
        const bytes = fromBase64url(text);
        expect(bytes === undefined || toBase64url(bytes) === text).toBe(true);
      }),
      { numRuns: 5_000 },
    );
  });

  test.each([
    ['padding', 'AA=='],
    ['the standard alphabet', '+/8A'],
    ['a space', 'AA AA'],
    ['a line end', 'AAAA\n'],
    ['a length that no bytes have', 'AAAAA'],
    ['unused bits that are set (two)', 'AAB'],
    ['unused bits that are set (four)', 'AB'],
    ['full-width letters', 'ＡＡＡＡ'],
    ['a dot', 'AA.AA'],
  ])('refuses %s', (_, text) => {
    expect(fromBase64url(text)).toBeUndefined();
  });
});
