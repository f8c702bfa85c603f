// The events of an asset, in order.
import type { Queries } from '../platform/postgres/database.ts';
import { columns, sql } from '../platform/postgres/sql.ts';
import { eventRow } from '../tables.ts';

const EVENT = columns(eventRow);

/** In the order of the asset's revisions, whatever the clocks of the processes; from the event `from` on, itself included, or from the first. Events without a revision are the oldest. */
export const listEvents = (
  db: Queries,
  assetId: string,
  { from, limit }: { from: string | undefined; limit: number },
) =>
  db.all(sql('events of asset', eventRow)`
    select ${EVENT} from events
     where asset_id = ${assetId}
       and (${from ?? null}::uuid is null
            or (coalesce(revision, 0), id) >= (select coalesce(revision, 0), id from events where asset_id = ${assetId} and id = ${from ?? null}::uuid))
     order by coalesce(revision, 0), id limit ${limit}`);
