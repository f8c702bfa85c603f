// The events of an asset, in order.
import type { Queries } from '../platform/postgres/database.ts';
import { columns, sql } from '../platform/postgres/sql.ts';
import { eventRow } from '../tables.ts';

const EVENT = columns(eventRow);

/** Oldest first, after the event named. */
export const eventsOf = (db: Queries, assetId: string, { after, limit }: { after: string; limit: number }) =>
  db.all(sql('events of asset', eventRow)`
    select ${EVENT} from events where asset_id = ${assetId} and id > ${after} order by id limit ${limit}`);
