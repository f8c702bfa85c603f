// The events of an asset, in order.
import type { Queries } from '../platform/postgres/database.ts';
import { columns, sql } from '../platform/postgres/sql.ts';
import { eventRow } from '../tables.ts';

const EVENT = columns(eventRow);

/** Oldest first, from the event named, itself included. */
export const listEvents = (db: Queries, assetId: string, { from, limit }: { from: string; limit: number }) =>
  db.all(sql('events of asset', eventRow)`
    select ${EVENT} from events where asset_id = ${assetId} and id >= ${from} order by id limit ${limit}`);
