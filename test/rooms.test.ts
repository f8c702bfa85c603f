// Holds the order of the rooms inside a wing, and how many sources a room has.
import { dirname } from 'node:path';
import { expect, test } from 'vitest';
import { files, imports, type SourceFile } from './support/source-tree.ts';

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
];
const MAX_SOURCES = 20;

const roomOf = ({ path }: SourceFile): number => ROOMS.findIndex((room) => path.startsWith(`${room}/`));

test('files import only from their own room and those below it', () => {
  const upwards = imports.filter(({ from, to }) => to && roomOf(from) >= 0 && roomOf(from) < roomOf(to));
  expect(upwards.map(({ from, target }) => `${from.path} → ${target}`)).toEqual([]);
});

test(`a room has at most ${MAX_SOURCES} sources`, () => {
  const sizes = ROOMS.map((room) => files.filter(({ path }) => dirname(path) === room).length);
  expect(Math.min(...sizes)).toBeGreaterThan(0);
  expect(Math.max(...sizes)).toBeLessThanOrEqual(MAX_SOURCES);
});
