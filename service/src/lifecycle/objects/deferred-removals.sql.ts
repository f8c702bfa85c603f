// SQL queries for objects that wait for their removal. `remove_after` and "due" are times of the database.
import type { Queries } from '../../platform/postgres/database.ts';
import type { RowOf } from '../../platform/postgres/row.ts';
import { sql } from '../../platform/postgres/sql.ts';
import { pick } from '../../tables.ts';
import { INTERNAL_TABLES } from '../../tables-internal.ts';

/** `remove_after` is text, because a `Date` drops the microseconds, and would name an earlier place. */
const removalColumns = {
  ...pick(INTERNAL_TABLES.deferred_removals, ['asset_id', 'key']),
  remove_after: 'text',
} as const;

export type Removal = RowOf<typeof removalColumns>;

/** The place before the first removal. */
export const FIRST_REMOVAL: Removal = {
  asset_id: '00000000-0000-0000-0000-000000000000',
  key: '',
  remove_after: '-infinity',
};

/** The keys and prefixes of an asset that wait. */
export const findDeferredKeys = async (db: Queries, assetId: string): Promise<string[]> =>
  (
    await db.all(sql('deferred keys', { key: 'text' })`
    select key from deferred_removals where asset_id = ${assetId}`)
  ).map(({ key }) => key);

/** The due removals that follow `after`, oldest first. */
export const findDueRemovals = (db: Queries, after: Removal, limit: number): Promise<Removal[]> =>
  db.all(sql('due removals', removalColumns)`
    select asset_id, key, remove_after::text
      from deferred_removals
     where remove_after <= now()
       and (remove_after, asset_id, key)
           > (${after.remove_after}::timestamptz, ${after.asset_id}::uuid, ${after.key})
     order by deferred_removals.remove_after, asset_id, key
     limit ${limit}`);

export const deleteDeferredRemoval = (db: Queries, removal: Removal) =>
  db.all(sql('delete deferred removal')`
    delete from deferred_removals where asset_id = ${removal.asset_id} and key = ${removal.key}`);
