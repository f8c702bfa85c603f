// Finds the sizes of many objects with few requests.
import type { ObjectKey } from '../../storage/object-key.ts';
import type { ObjectStore } from '../../storage/object-store.ts';

/** One request lists up to 1000 objects; a request for each key would return one. */
const MIN_LISTED = 10;
const CONCURRENT = 8;

type Store = Pick<ObjectStore, 'size' | 'listSizes' | 'listsInOrder'>;

/** Keys without an object are missing in the result. */
export async function findSizes(
  store: Store,
  keys: readonly ObjectKey[],
): Promise<ReadonlyMap<ObjectKey, number>> {
  const sizes = new Map<ObjectKey, number>();
  for (const [root, group] of Map.groupBy(keys, (key) => key.slice(0, key.indexOf('/') + 1) as ObjectKey))
    if (store.listsInOrder && group.length >= MIN_LISTED) await listGroup(store, root, { group, sizes });
    else await readGroup(store, group, sizes);
  return sizes;
}

type Group = { readonly group: readonly ObjectKey[]; readonly sizes: Map<ObjectKey, number> };

/** From the first to the last key. Other objects between them are passed over. */
async function listGroup(store: Store, root: ObjectKey, { group, sizes }: Group): Promise<void> {
  const wanted = new Set(group);
  const sorted = group.toSorted();
  // The last character of the first key is left away, so that the list begins with this key.
  const start = sorted[0]?.slice(0, -1) as ObjectKey;
  const last = sorted.at(-1) as ObjectKey;
  for await (const { key, sizeBytes } of store.listSizes(root, start)) {
    if (key > last) return;
    if (wanted.has(key)) sizes.set(key, sizeBytes);
  }
}

async function readGroup(
  store: Store,
  group: readonly ObjectKey[],
  sizes: Map<ObjectKey, number>,
): Promise<void> {
  const keys = group.values();
  await Promise.all(
    Array.from({ length: CONCURRENT }, async () => {
      for (const key of keys) {
        const size = await store.size(key);
        if (size !== undefined) sizes.set(key, size);
      }
    }),
  );
}
