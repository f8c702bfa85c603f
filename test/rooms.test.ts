// Holds the order of the rooms inside a wing, and how many sources a room has.
import { dirname } from 'node:path';
import { expect, test } from 'vitest';
import { files, imports, type SourceFile } from './support/tree/source-tree.ts';

/** Lowest first: a file imports from its own room and those on earlier lines. */
const ROOMS = [
  'encoding/model',
  'encoding/plan/source',
  'encoding/plan/ladder',
  'encoding/plan/arguments',
  'encoding/packaging',
  'encoding/ffmpeg/process',
  'encoding/ffmpeg',
  'encoding/extras',
  'encoding/jobs',
  'encoding/times',
];
const MAX_SOURCES = 20;

const roomOf = ({ path }: SourceFile): number => ROOMS.findIndex((room) => path.startsWith(`${room}/`));

test('files import only from their own room and those below it', () => {
  const upwards = imports.filter(({ from, to }) => to && roomOf(from) >= 0 && roomOf(from) < roomOf(to));
  expect(upwards.map(({ from, target }) => `${from.path} → ${target}`)).toEqual([]);
});

test(`a room has at most ${MAX_SOURCES} sources`, () => {
  const sizes = Map.groupBy(files, ({ path }) => dirname(path));
  const large = [...sizes].filter(([, sources]) => sources.filter(isSource).length > MAX_SOURCES);
  expect(large.map(([room]) => room)).toEqual([]);
  expect(ROOMS.filter((room) => !sizes.has(room))).toEqual([]);
});

const isSource = ({ path }: SourceFile): boolean => !/\.(?:fixture|contract)$/.test(path);

/** Words that say nothing about what a type is. */
const EMPTY_NAMES = /^(?:export )?type (?:Needs|Work|Outcome|Exchange|State|Limits|Part)\b/m;

test('a type has a name of its own', () => {
  const empty = files.filter(({ text }) => EMPTY_NAMES.test(text));
  expect(empty.map(({ path }) => path)).toEqual([]);
});

test('statements of uploads take the conditions of an asset from one place', () => {
  const repeating = files.filter(
    ({ path, text }) => /^uploads\/.*\.sql$/.test(path) && /'pending_upload'/.test(text),
  );
  expect(repeating.map(({ path }) => path)).toEqual(['uploads/byte-conditions.sql']);
});

/** `feature.ts` adds what the wing creates once; the reconcile run has one clock for all its deadlines. */
const EXTENDS_CONTEXT = /^(?:[a-z]+\/feature|upkeep\/reconcile)$/;

test('a context is passed on as it is', () => {
  const spreading = files.filter(({ text }) => /\{ \.\.\.(?:ctx|app|outer)\b(?!\.)/.test(text));
  expect(spreading.map(({ path }) => path).filter((path) => !EXTENDS_CONTEXT.test(path))).toEqual([]);
});

/** The database prepares statements by their names. */
test('an SQL statement has a name of its own', () => {
  const names = files.flatMap(({ text }) =>
    [...text.matchAll(/\bsql\(\s*'([^']+)'/g)].map(([, name]) => name),
  );
  expect(names.length).toBeGreaterThan(300);
  expect(names.filter((name, at) => names.indexOf(name) !== at)).toEqual([]);
});
