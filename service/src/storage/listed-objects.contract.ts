// The contract of lists with sizes: every adapter passes these tests.
import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import { type ObjectKey, renditionKey } from './object-key.ts';
import { inChunks, originalOf } from './object-store.fixture.ts';
import type { ListedObject, ObjectStore } from './object-store.ts';

const ROOTS = ['originals/', 'renditions/'] as ObjectKey[];

export function listedObjectsContract(name: string, open: () => Promise<ObjectStore>): void {
  describe(`the lists of ${name}`, () => {
    let store: ObjectStore;
    beforeAll(async () => {
      store = await open();
      for (const asset of Array.from({ length: 5 }, () => randomUUID()))
        for (const key of [originalOf(asset), ...renditionsOf(asset)])
          await store.put(key, inChunks(Buffer.from(key), 99), 200);
    });

    const listed = async (prefix: ObjectKey, after?: ObjectKey): Promise<ListedObject[]> => {
      const found: ListedObject[] = [];
      for await (const object of store.listSizes(prefix, after)) found.push(object);
      return found;
    };

    test.for(ROOTS)('of %s can be continued behind each of their keys', async (root) => {
      const all = await listed(root);
      expect(all.length).toBeGreaterThanOrEqual(5);
      for (const [place, { key }] of all.entries())
        expect(await listed(root, key)).toEqual(all.slice(place + 1));
    });

    test('are in the order of keys where the store says so, and name the time of each object', async () => {
      for (const root of ROOTS) {
        const all = await listed(root);
        const keys = all.map(({ key }) => key);
        if (store.listsInOrder) expect(keys).toEqual(keys.toSorted());
        for (const { modifiedAt } of all)
          expect(Math.abs(Date.now() - modifiedAt.getTime())).toBeLessThan(600_000);
      }
    });
  });
}

const renditionsOf = (asset: string): ObjectKey[] =>
  ['1-1', '1-10'].flatMap((folder) => ['a.m4s', 'b.m4s'].map((file) => renditionKey(asset, folder, file)));
