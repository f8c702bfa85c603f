// Tests the order, names, languages and renditions of audio tracks.
import { describe, expect, test } from 'vitest';
import { audioRenditions, byDefault, toAudioTracks } from './audio-tracks.ts';
import { audioStream as stream } from '../../model/source.fixture.ts';
import type { SourceStream } from '../../model/source.ts';

const namesOf = (...streams: Partial<SourceStream>[]) =>
  toAudioTracks(streams.map((more, index) => stream(index, more))).map(({ name }) => name);
const languageOf = (language: string) => toAudioTracks([stream(1, { language })])[0]?.language;

describe('the default track', () => {
  test('is the one that the source marks, and the others keep their order', () => {
    const streams = [stream(1), stream(2), stream(3, { dispositions: ['default'] })];
    const tracks = toAudioTracks(byDefault(streams));
    expect(tracks.map(({ index, isDefault }) => [index, isDefault])).toEqual([
      [3, true],
      [1, false],
      [2, false],
    ]);
  });
  test('is the first where none or all are marked', () => {
    const marked = [1, 2].map((index) => stream(index, { dispositions: ['default'] }));
    expect(byDefault(marked)).toEqual(marked);
    expect(byDefault([stream(1), stream(2)])).toEqual([stream(1), stream(2)]);
  });
});

describe('a language', () => {
  test.each([
    ['deu', 'de'],
    ['ger', 'de'],
    ['fre', 'fr'],
    ['chi', 'zh'],
    ['rum', 'ro'],
    ['eng', 'en'],
    ['en', 'en'],
    ['pt-br', 'pt-BR'],
    ['yue', 'yue'],
  ])('%s is %s', (code, language) => expect(languageOf(code)).toBe(language));
  test.each(['und', 'mis', '', 'x', 'e n', 'english', 'de"', 'en-a', 'en-us-us-us'])('%j is none', (code) =>
    expect(languageOf(code)).toBeNull(),
  );
});

describe('a name', () => {
  test('is the title, else the language, else a number', () => {
    expect(
      namesOf(
        { language: 'deu', title: 'Regie' },
        { language: 'ger' },
        { language: 'qaa' },
        { language: 'pt-BR' },
      ),
    ).toEqual(['Regie', 'German', 'Audio 3', 'Brazilian Portuguese']);
    expect(namesOf({})).toEqual(['Audio']);
  });
  test('is different for every track', () => {
    expect(
      namesOf({ language: 'eng' }, { language: 'eng' }, { title: 'English 2' }, { language: 'eng' }),
    ).toEqual(['English', 'English 2', 'English 2 2', 'English 3']);
  });
  test('is plain and short', () => {
    expect(
      namesOf({ title: 'a "b"\u0007c' }, { title: 'x'.repeat(65), language: 'eng' }, { title: ' ' }),
    ).toEqual(["a 'b' c", 'English', 'Audio 3']);
  });
});

test.each([
  ['comment', 'commentary'],
  ['visual impaired', 'description'],
  ['descriptions', 'description'],
  ['hearing impaired', 'clear_speech'],
  ['dub', 'main'],
])('the flag "%s" means %s', (flag, purpose) => {
  expect(toAudioTracks([stream(1, { dispositions: [flag] })])).toMatchObject([{ purpose }]);
});

test.each([
  [1, [2]],
  [5, [2]],
  [6, [2, 6]],
  [8, [2, 6]],
  [24, [2]],
])('%d channels are encoded as %j', (channels, encoded) => {
  const renditions = audioRenditions(toAudioTracks([stream(1, { channels })]));
  expect(renditions.map((rendition) => rendition.channels)).toEqual(encoded);
});
