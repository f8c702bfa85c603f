// The removal of objects without a grace period.
import type { ObjectKey } from '../../storage/object-key.ts';
import type { ObjectStore } from '../../storage/object-store.ts';

/** Stands in for `removeUnlessDeferred` where PURGE_GRACE_DAYS is 0. */
export const removeAtOnce =
  (store: Pick<ObjectStore, 'removeAll'>) =>
  async (_assetId: string, prefix: ObjectKey): Promise<void> => {
    await store.removeAll(prefix);
  };
