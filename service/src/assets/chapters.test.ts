// Tests which chapters an asset takes from callers, and what is kept of those of files.
import { describe, expect, test } from 'vitest';
import { type Chapter, MAX_CHAPTERS } from '@mediary/contract/schemas/assets/chapters';
import { ServiceError } from '../platform/http/errors.ts';
import { assertChapters, cutChapters, readChapters } from './chapters.ts';

type Target = Parameters<typeof assertChapters>[0];

const VIDEO: Target = { kind: 'video', duration_ms: 60_000 };
const IMAGE: Target = { kind: 'image', duration_ms: null };
const at = (...starts: number[]) => starts.map((start_ms) => ({ start_ms, title: `At ${start_ms}` }));

function fieldOf(asset: Target, chapters: Chapter[]) {
  try {
    assertChapters(asset, chapters);
    return undefined;
  } catch (error) {
    return error instanceof ServiceError ? error.details?.['field'] : error;
  }
}

describe('chapters of callers', () => {
  test.each<[string, Target, { chapters: Chapter[]; field: string | undefined }]>([
    ['in order, up to the last millisecond', VIDEO, { chapters: at(0, 5, 59_999), field: undefined }],
    ['that begin later', VIDEO, { chapters: at(1000), field: undefined }],
    [
      'of a video of unknown length',
      { ...VIDEO, duration_ms: null },
      { chapters: at(1e9), field: undefined },
    ],
    ['none, of an image', IMAGE, { chapters: [], field: undefined }],
    ['of an image', IMAGE, { chapters: at(0), field: 'chapters' }],
    ['twice at one time', VIDEO, { chapters: at(0, 5, 5), field: 'chapters.2.start_ms' }],
    ['out of order', VIDEO, { chapters: at(5, 0), field: 'chapters.1.start_ms' }],
    ['at the end', VIDEO, { chapters: at(0, 60_000), field: 'chapters.1.start_ms' }],
    [
      'with a null character',
      VIDEO,
      { chapters: [{ start_ms: 0, title: 'a\0' }], field: 'chapters.0.title' },
    ],
  ])('%s', (_, asset, edit) => expect(fieldOf(asset, edit.chapters)).toBe(edit.field));
});

describe('chapters of a file', () => {
  test('are sorted, and named where the file does not name them', () => {
    const found = [
      { start_ms: 9000, title: 'Last' },
      { start_ms: 0, title: ' First\nline ' },
      { start_ms: 5000, title: '' },
    ];
    expect(readChapters(found, 10_000)).toEqual([
      { start_ms: 0, title: 'First line' },
      { start_ms: 5000, title: 'Chapter 3' },
      { start_ms: 9000, title: 'Last' },
    ]);
  });

  test('lack what starts after the end, together with another one, or nowhere', () => {
    const found = [
      ...at(0, 10, 10, 20, 10_000),
      { start_ms: -1 },
      { start_ms: 0.5 },
      { title: 'a' },
      null,
      7,
    ];
    expect(readChapters(found, 10_000)).toEqual(at(0, 10, 20));
  });

  test.each([[undefined], ['text'], [at(0)], [at(0, 10_000)], [{}]])('%j are none', (found) =>
    expect(readChapters(found, 10_000)).toEqual([]),
  );

  test('are the first ones of very many', () => {
    const many = at(...Array.from({ length: 3 * MAX_CHAPTERS }, (_, index) => index));
    expect(readChapters(many.reverse(), 10_000)).toEqual(
      at(...Array.from({ length: MAX_CHAPTERS }, (_, i) => i)),
    );
  });
});

test.each([
  [0, 60_000, [0, 10_000, 20_000]],
  [5000, 25_000, [0, 5000, 15_000]],
  [10_000, 20_001, [0, 10_000]],
  [10_000, 20_000, null],
  [25_000, 60_000, null],
])('a part from %i to %i begins within a chapter', (start_ms, end_ms, starts) => {
  const cut = cutChapters(at(0, 10_000, 20_000), { start_ms, end_ms });
  expect(cut?.map((chapter) => chapter.start_ms) ?? null).toEqual(starts);
});

test('a part keeps the titles, and a video without chapters has none', () => {
  const part = { start_ms: 500, end_ms: 2000 };
  expect(cutChapters(at(1000, 1500), part)).toEqual([
    { start_ms: 500, title: 'At 1000' },
    { start_ms: 1000, title: 'At 1500' },
  ]);
  expect([cutChapters(null, part), cutChapters([], part)]).toEqual([null, null]);
});
