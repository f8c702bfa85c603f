// Holds store and database against each other: objects that nobody points to, and assets whose bytes are missing.
import type { Database } from '../platform/postgres/database.ts';
import { type ObjectKey, originalKey, storeRoots } from '../storage/object-key.ts';
import type { ObjectStore } from '../storage/object-store.ts';
import { isOrphan, nameOf, withoutExpiredLease } from './orphan.ts';
import { holders, recordedOriginals } from './orphans.sql.ts';

export type OrphanNeeds = {
  readonly db: Database;
  readonly store: ObjectStore;
  /** A writer whose lease was ended cannot finish, so its object may be removed. */
  readonly endExpiredLeases: (assetIds: readonly string[]) => Promise<unknown>;
  readonly now: () => Date;
};

/** `objects` and `assets` list the first of each; the counts are of all. */
export type OrphanReport = {
  readonly object_count: number;
  readonly objects: readonly string[];
  readonly removed: boolean;
  readonly asset_count: number;
  readonly assets: readonly string[];
};

const BATCH = 500;
const LISTED = 1000;

/** A dry run unless `remove`. */
export async function findOrphans(
  needs: OrphanNeeds,
  { remove }: { remove: boolean },
): Promise<OrphanReport> {
  const orphans: ObjectKey[] = [];
  for (const root of storeRoots()) {
    for await (const batch of inBatches(needs.store.list(root)))
      orphans.push(...(await orphansAmong(needs, batch, { remove })));
  }
  if (remove) for (const key of orphans) await needs.store.remove(key);
  const bare = await assetsWithoutBytes(needs);
  return {
    object_count: orphans.length,
    objects: orphans.slice(0, LISTED),
    removed: remove,
    asset_count: bare.length,
    assets: bare.slice(0, LISTED),
  };
}

/** The rows are read after the keys were listed, and what they say of an orphan never changes: it may be removed at any time later. */
async function orphansAmong(
  { db, endExpiredLeases, now }: OrphanNeeds,
  keys: readonly ObjectKey[],
  { remove }: { remove: boolean },
): Promise<ObjectKey[]> {
  const names = keys.map((key) => ({ key, name: nameOf(key) }));
  const ids = [...new Set(names.map(({ name }) => name.assetId))];
  if (remove) await endExpiredLeases(ids);
  const rows = await holders(db, ids);
  const known = new Map(
    rows.map((holder) => [holder.id, remove ? holder : withoutExpiredLease(holder, now())]),
  );
  return names.filter(({ name }) => isOrphan(name, known.get(name.assetId))).map(({ key }) => key);
}

async function assetsWithoutBytes({ db, store }: OrphanNeeds): Promise<string[]> {
  const bare: string[] = [];
  let after = '00000000-0000-0000-0000-000000000000';
  for (;;) {
    const originals = await recordedOriginals(db, after, BATCH);
    for (const original of originals)
      if ((await store.size(originalKey(original))) === undefined) bare.push(original.id);
    if (originals.length < BATCH) return bare;
    after = originals.at(-1)?.id ?? after;
  }
}

async function* inBatches<T>(items: AsyncIterable<T>): AsyncGenerator<T[]> {
  let batch: T[] = [];
  for await (const item of items) {
    batch.push(item);
    if (batch.length < BATCH) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}
