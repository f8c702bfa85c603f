// Ends and deletes uploads that did not finish in time.
import type { Queries } from '../platform/postgres/database.ts';
import { deleteOverdueUploads, endExpiredPuts } from './uploads.sql.ts';

export type ExpiryNeeds = { readonly db: Queries; readonly now: () => Date };

const BATCH = 200;

/** An expired upload cannot finish any more, so its object may be removed. */
export const endExpiredUploads = ({ db }: Pick<ExpiryNeeds, 'db'>, assetIds: readonly string[]) =>
  endExpiredPuts(db, assetIds);

/** Deletes the rows of uploads that are over. Returns their number. */
export async function pruneUploads({ db, now }: ExpiryNeeds): Promise<number> {
  let pruned = 0;
  for (;;) {
    const uploads = await deleteOverdueUploads(db, now(), BATCH);
    pruned += uploads.length;
    if (uploads.length < BATCH) return pruned;
  }
}
