// Tests that secrets do not show in logs and messages.
import { createHmac } from 'node:crypto';
import { format, inspect } from 'node:util';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isServiceKey, toSecret } from './secret.ts';

const TEXT = 'planted-canary-7f3a';
const one = toSecret(TEXT);

describe('a secret', () => {
  test.each([
    ['a template', () => `${one}`],
    ['concatenation', () => `x${String(one)}`],
    ['JSON', () => JSON.stringify({ one, list: [one] })],
    ['JSON of a copy', () => JSON.stringify({ ...one })],
    ['inspect', () => inspect({ one }, { depth: 9, showHidden: true })],
    ['inspect of a copy', () => inspect({ ...one }, { depth: 9, showHidden: true })],
    ['format', () => format('%s %o %O %j', one, one, one, one)],
    ['an error', () => inspect(new Error(`no ${one}`, { cause: one }))],
    ['its members', () => inspect(Object.entries(one), { depth: 9, showHidden: true })],
  ])('does not print itself in %s', (_, print) => {
    expect(print()).not.toContain(TEXT);
  });

  test('says what it is where it is printed', () => {
    expect([`${one}`, JSON.stringify(one), inspect(one)]).toEqual(['[secret]', '"[secret]"', '[secret]']);
  });

  test('reveals its text only on request', () => {
    expect(one.reveal()).toBe(TEXT);
  });

  test('brings its UTF-8 bytes as a key', () => {
    const text = 'schlüssel-鍵';
    const mac = (key: Parameters<typeof createHmac>[1]) =>
      createHmac('sha256', key).update('m').digest('hex');
    expect(mac(toSecret(text).key)).toBe(mac(Buffer.from(text, 'utf8')));
  });

  test('cannot be changed', () => {
    expect(() => Object.assign(one, { reveal: () => 'other' })).toThrow(TypeError);
  });

  test('is never empty: an empty key would verify what anyone can sign', () => {
    expect(() => toSecret('')).toThrow('a secret cannot be empty');
  });
});

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
