// Removes objects that no asset names any more, unless they wait for the end of PURGE_GRACE_DAYS.
import type { AssetLoader } from '../assets/asset-lookup.ts';
import { collectFailuresOfPages } from '../platform/concurrency/collect-failures.ts';
import type { Queries } from '../platform/postgres/database.ts';
import type { ObjectKey } from '../storage/object-key.ts';
import type { ObjectStore } from '../storage/object-store.ts';
import * as queries from './deferred-removals.sql.ts';
import { isDeferred, isReferenced } from './stored-references.ts';

type RemovalNeeds = { readonly db: Queries; readonly store: ObjectStore };

/** `place`: a key, or a prefix that ends in a slash. Objects that wait stay. */
export async function removeUnlessDeferred(
  { db, store }: RemovalNeeds,
  assetId: string,
  place: ObjectKey,
): Promise<void> {
  const deferred = await queries.findDeferredKeys(db, assetId);
  if (isDeferred(place, deferred)) return;
  if (!deferred.some((key) => key.startsWith(place))) return removeAt(store, place);
  const keys: ObjectKey[] = [];
  for await (const key of store.list(place)) if (!isDeferred(key, deferred)) keys.push(key);
  for (const key of keys) await store.remove(key);
}

const BATCH = 200;

type DueNeeds = RemovalNeeds & { readonly loader: Pick<AssetLoader, 'find'> };

/** A failure does not delay the other removals. */
export async function removeDueObjects(needs: DueNeeds): Promise<void> {
  const { count, failures } = await collectFailuresOfPages(
    {
      start: queries.FIRST_REMOVAL,
      size: BATCH,
      read: (after) => queries.findDueRemovals(needs.db, after, BATCH),
    },
    (removal) => removeDue(needs, removal),
  );
  if (failures.length > 0)
    throw new AggregateError(failures, `${failures.length} of ${count} removals failed`);
}

/**
 * Keeps objects that the asset refers to again, as after a late report of a failed run. A row outlives its
 * objects, so that a crash repeats the removal.
 */
async function removeDue({ db, store, loader }: DueNeeds, removal: queries.Removal): Promise<void> {
  const asset = await loader.find(removal.asset_id);
  const key = removal.key as ObjectKey;
  if (!asset || !isReferenced(asset, key)) await removeAt(store, key);
  await queries.deleteDeferredRemoval(db, removal);
}

async function removeAt(store: ObjectStore, place: ObjectKey): Promise<void> {
  await (place.endsWith('/') ? store.removeAll(place) : store.remove(place));
}
