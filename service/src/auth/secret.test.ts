import { createHmac } from 'node:crypto';
import { format, inspect } from 'node:util';
import { describe, expect, test } from 'vitest';
import { toSecret } from './secret.ts';

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

  test('gives its text to whoever asks for it by name', () => {
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
