// Removes objects that no asset names any more, unless they wait for the end of PURGE_GRACE_DAYS.
import { collectFailuresOfPages } from '../../platform/concurrency/collect-failures.ts';
import type { ObjectKey } from '../../storage/object-key.ts';
import type { ObjectStore } from '../../storage/object-store.ts';
import type { LifecycleContext } from '../context.ts';
import * as queries from './deferred-removals.sql.ts';
import { isDeferred, isReferenced } from '../decisions/stored-references.ts';

/** `place`: a key, or a prefix that ends in a slash. Objects that wait stay. */
export async function removeUnlessDeferred(
  { db, store }: Pick<LifecycleContext, 'db' | 'store'>,
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

/** A failure does not delay the other removals. */
export async function removeDueObjects(ctx: LifecycleContext): Promise<void> {
  const { count, failures } = await collectFailuresOfPages(
    {
      start: queries.FIRST_REMOVAL,
      size: BATCH,
      read: (after) => queries.findDueRemovals(ctx.db, after, BATCH),
    },
    (removal) => removeDue(ctx, removal),
  );
  if (failures.length > 0)
    throw new AggregateError(failures, `${failures.length} of ${count} removals failed`);
}

/**
 * Keeps objects that the asset refers to again, as after a late report of a failed run, and those of an asset
 * under a legal hold. A row outlives its objects, so that a crash repeats the removal.
 */
async function removeDue({ db, store, loader }: LifecycleContext, removal: queries.Removal): Promise<void> {
  const asset = await loader.find(removal.asset_id);
  if (asset?.legal_hold) return;
  const key = removal.key as ObjectKey;
  if (!asset || !isReferenced(asset, key)) await removeAt(store, key);
  await queries.deleteDeferredRemoval(db, removal);
}

async function removeAt(store: ObjectStore, place: ObjectKey): Promise<void> {
  await (place.endsWith('/') ? store.removeAll(place) : store.remove(place));
}
