// SQL queries for objects that wait for their removal. `remove_after` and "due" are times of the database.
import type { Queries } from '../platform/postgres/database.ts';
import { sql } from '../platform/postgres/sql.ts';
import { pick } from '../tables.ts';
import { INTERNAL_TABLES } from '../tables-internal.ts';

const keyColumns = pick(INTERNAL_TABLES.deferred_removals, ['asset_id', 'key']);

/** The keys and prefixes of an asset that wait. */
export const findDeferredKeys = async (db: Queries, assetId: string): Promise<string[]> =>
  (
    await db.all(sql('deferred keys', { key: 'text' })`
    select key from deferred_removals where asset_id = ${assetId}`)
  ).map(({ key }) => key);

/** A batch of the due removals. Owners take turns. */
export const findDueRemovals = (db: Queries, limit: number) =>
  db.all(sql('due removals', keyColumns)`
    select asset_id, key
      from (select asset_id, key, remove_after,
                   row_number() over (partition by owner_user_id order by remove_after) as turn
              from deferred_removals left join assets on assets.id = asset_id
             where remove_after <= now()) as due
     order by turn, remove_after
     limit ${limit}`);

export type Removal = { readonly asset_id: string; readonly key: string };

export const deleteDeferredRemoval = (db: Queries, removal: Removal) =>
  db.all(sql('delete deferred removal')`
    delete from deferred_removals where asset_id = ${removal.asset_id} and key = ${removal.key}`);
