// SQL query for the latest check in the timeline of an asset.
import type { Queries } from '../platform/postgres/database.ts';
import { sql } from '../platform/postgres/sql.ts';

export const findLastCheckReason = async (db: Queries, assetId: string): Promise<string | undefined> =>
  (
    await db.one(sql('last check reason', { reason: 'text?' })`
    select data ->> 'reason' as reason from events
     where asset_id = ${assetId} and type = 'asset.checked'
     order by id desc limit 1`)
  )?.reason ?? undefined;
