// The events of an asset, in order.
import type { Queries } from '../platform/postgres/database.ts';
import { columns, sql } from '../platform/postgres/sql.ts';
import { eventRow } from '../tables.ts';

const EVENT = columns(eventRow);

/**
 * Ordered by the asset's revision, because clocks of processes differ. Starts with the event `from`, or with
 * the first event.
 */
export const listEvents = (
  db: Queries,
  assetId: string,
  { from, limit }: { from: string | undefined; limit: number },
) =>
  db.all(sql('events of asset', eventRow)`
    select ${EVENT} from events
     where asset_id = ${assetId}
       and (${from ?? null}::uuid is null
            or (revision, id) >= (select revision, id
                                                 from events
                                                where asset_id = ${assetId} and id = ${from ?? null}::uuid))
     order by revision, id
     limit ${limit}`);
