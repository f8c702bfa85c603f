import { expect, test } from 'vitest';
import { toSafeName } from './download.ts';

test.each([
  ['film.mp4', 'film.mp4'],
  ['../../etc/passwd', 'passwd'],
  ['C:\\Users\\me\\film.mp4', 'film.mp4'],
  ['.bashrc', 'bashrc'],
  ['..', 'download'],
  ['Ferien in Köln.mov', 'Ferien in Köln.mov'],
])('%j is saved as %j', (filename, name) => {
  expect(toSafeName(filename)).toBe(name);
});
