// Tests which language tags captions may have, and how languages are called.
import { expect, test } from 'vitest';
import { nameOfLanguage, toLanguage } from './caption-request.ts';

test.each([
  ['EN-us', 'en-US'],
  ['ger', 'de'],
  ['UND-X-CC3', 'und-x-cc3'],
  ['de-x-a-b', 'de-x-a-b'],
])('%s is %s', (tag, language) => {
  expect(toLanguage(tag)).toBe(language);
});

test.each([
  'x-cc3',
  'en-x',
  'en-x-',
  'en-x-toolongsubtag',
  'en-u-ca-buddhist',
  `en${'-x-a'.repeat(9)}`,
  '../x',
])('%s is no language', (tag) => {
  expect(toLanguage(tag)).toBeUndefined();
});

test('a language is called by its own name, whatever its private subtags are', () => {
  expect(['de', 'pt-BR', 'und', 'und-x-cc3', 'es-x-cc3'].map(nameOfLanguage)).toEqual([
    'Deutsch',
    'português (Brasil)',
    'Unknown language',
    'Unknown language',
    'español',
  ]);
});
