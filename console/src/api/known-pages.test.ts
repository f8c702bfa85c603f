// Which pages of a list are known, while the list grows and shrinks.
import { expect, test } from 'vitest';
import { countSlots, FIRST_PAGE, knownIndexes, type KnownPages, linkPage, PAGE_SIZE } from './known-pages.ts';

const page = (next: string | null, length = PAGE_SIZE) => ({
  items: Array.from({ length }),
  next_cursor: next,
});

const read = (...nexts: readonly (string | null)[]): KnownPages =>
  nexts.reduce((known, next, index) => linkPage(known, index, page(next)), FIRST_PAGE);

test('each page that is read makes the next one known, until the last', () => {
  const known = read('a', 'b');
  expect(known).toEqual({ starts: [undefined, 'a', 'b'], lastCount: undefined });
  expect(countSlots(known)).toBe(3 * PAGE_SIZE);
  const whole = linkPage(known, 2, page(null, 7));
  expect(countSlots(whole)).toBe(2 * PAGE_SIZE + 7);
});

test('a page that says nothing new changes nothing', () => {
  const known = linkPage(read('a'), 1, page(null, 7));
  expect(linkPage(known, 0, page('a'))).toBe(known);
  expect(linkPage(known, 1, page(null, 7))).toBe(known);
});

test('an asset at the top moves the next page alone; the others are corrected when they are read', () => {
  const moved = linkPage(read('a', 'b', 'c'), 0, page('a2'));
  expect(moved.starts).toEqual([undefined, 'a2', 'b', 'c']);
  expect(linkPage(moved, 1, page('b2')).starts).toEqual([undefined, 'a2', 'b2', 'c']);
});

test('a list that ends earlier loses its pages, and one that grows gets another', () => {
  const shorter = linkPage(read('a', 'b', 'c'), 1, page(null, 3));
  expect(shorter).toEqual({ starts: [undefined, 'a'], lastCount: 3 });
  expect(linkPage(shorter, 1, page('b'))).toEqual({ starts: [undefined, 'a', 'b'], lastCount: undefined });
  expect(linkPage(shorter, 0, page('a2')).lastCount).toBe(3);
});

test('an empty list has one page without places', () => {
  expect(countSlots(linkPage(FIRST_PAGE, 0, page(null, 0)))).toBe(0);
});

test.each([
  [0, 1, [0, 1]],
  [-2, 0, [0]],
  [1, 9, [1, 2]],
  [7, 9, [2]],
])('of three pages, those from %i to %i', (first, last, indexes) => {
  expect(knownIndexes(read('a', 'b'), first, last)).toEqual(indexes);
});
