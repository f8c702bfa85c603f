// Tests which text can be stored.
import { expect, test } from 'vitest';
import { isPlainText, toPlainJson } from './plain-text.ts';

test('plain text may hold anything but NUL and half characters', () => {
  expect(['', '\n\t', '🎬', '\u202e'].every(isPlainText)).toBe(true);
  expect(['\0', 'a\ud800'].some(isPlainText)).toBe(false);
});

test('plain JSON has U+FFFD in place of NUL and half characters, and all else as it is', () => {
  const clean = { name: ['\\u0000', '\\\\ud83d', '"\u0001\n', '🎬'], deep: { none: null, count: 1 } };
  expect(JSON.parse(toPlainJson(clean))).toEqual(clean);
  const refused = { 'a\0': '\\\0', b: ['\ud83d', '\udfac🎬'] };
  expect(JSON.parse(toPlainJson(refused))).toEqual({ 'a\ufffd': '\\\ufffd', b: ['\ufffd', '\ufffd🎬'] });
});
