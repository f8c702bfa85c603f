// Tests which text can be stored.
import { expect, test } from 'vitest';
import { isPlainText } from './plain-text.ts';

test('plain text may hold anything but NUL and half characters', () => {
  expect(['', '\n\t', '🎬', '\u202e'].every(isPlainText)).toBe(true);
  expect(['\0', 'a\ud800'].some(isPlainText)).toBe(false);
});
