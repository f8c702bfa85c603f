// Limits of size for source files: lines of a file, lines of a function, columns of a line.
import { expect, test } from 'vitest';
import { modules } from './support/tree/modules.ts';

const MAX_FILE_LINES = 250;
const MAX_FUNCTION_LINES = 50;
const MAX_COLUMNS = 110;

/** Lists that `npm run docs` writes. */
const GENERATED = /^packages\/client\/src\/api\//;

test(`a file has at most ${MAX_FILE_LINES} lines`, () => {
  const written = modules.filter(({ path }) => !GENERATED.test(path));
  const long = written.filter(({ text }) => text.split('\n').length - 1 > MAX_FILE_LINES);
  expect(long.map(({ path }) => path)).toEqual([]);
});

test(`a function has at most ${MAX_FUNCTION_LINES} lines`, () => {
  const long = modules.filter(({ functions }) => functions.some(({ lines }) => lines > MAX_FUNCTION_LINES));
  expect(long.map(({ path }) => path)).toEqual([]);
});

test(`a line has at most ${MAX_COLUMNS} columns`, () => {
  const long = modules.flatMap(({ path, text }) =>
    text
      .split('\n')
      .flatMap((line, index) => ([...line].length > MAX_COLUMNS ? [`${path}:${index + 1}`] : [])),
  );
  expect(long).toEqual([]);
});
