// Which entries of a timeline an explanation has.
import type { TimelineEntry } from '@mediary/client';
import { expect, test } from 'vitest';
import { readLastEntries } from './timeline.ts';

const read = (types: readonly string[]) => {
  const entries = types.map((type, index) => ({ id: String(index), type }) as TimelineEntry);
  const media = {
    async *timeline() {
      yield* entries;
    },
  };
  return readLastEntries({ media }, 'asset', {});
};

test('of a series of progress entries the last one stays', async () => {
  const { items, omitted } = await read(['asset.created', 'asset.progress', 'asset.progress', 'asset.ready']);
  expect(items.map(({ id }) => id)).toEqual(['0', '2', '3']);
  expect(omitted).toBe(1);
});

test('of a long timeline the last 100 entries stay', async () => {
  const { items, omitted } = await read(Array.from({ length: 250 }, () => 'asset.updated'));
  expect([items.length, items[0]?.id, omitted]).toEqual([100, '150', 150]);
});
