import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { toSecret } from './secret.ts';
import { isServiceKey } from './service-key.ts';

const KEY = 'service-key-current-0123456789';
const keys = [toSecret(KEY), toSecret('service-key-previous')];

describe('the service key', () => {
  test('the current and the previous one are known', () => {
    expect([KEY, 'service-key-previous'].map((given) => isServiceKey(given, keys))).toEqual([true, true]);
  });

  test.each([
    '',
    ' ',
    KEY.slice(1),
    KEY.slice(0, -1),
    `${KEY} `,
    ` ${KEY}`,
    `${KEY}\0`,
    KEY.toUpperCase(),
    `${KEY}, ${KEY}`,
    '[secret]',
    'undefined',
  ])('%j is unknown', (given) => {
    expect(isServiceKey(given, keys)).toBe(false);
  });

  test('where there is no key, none is known', () => {
    expect(['', KEY].map((given) => isServiceKey(given, []))).toEqual([false, false]);
  });

  test('any other text is unknown', () => {
    fc.assert(
      fc.property(fc.string(), fc.nat(KEY.length), (text, at) => {
        fc.pre(text !== '');
        expect(isServiceKey(KEY.slice(0, at) + text + KEY.slice(at), keys)).toBe(false);
        expect(isServiceKey(text, keys)).toBe(false);
      }),
      { numRuns: 500 },
    );
  });
});
