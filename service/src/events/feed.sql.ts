// SQL queries of the event feed: events of all assets in one order that clients can resume from.
import type { Queries } from '../platform/postgres/database.ts';
import { columns, sql } from '../platform/postgres/sql.ts';
import { eventRow } from '../tables.ts';
import type { FeedPage, PageOptions, Position } from './feed-event.ts';

const EVENT = columns(eventRow);

/** Lower than the id of every event. */
const FIRST_ID = '00000000-0000-0000-0000-000000000000';
const EVERYTHING: Position = { transactionId: Number.MAX_SAFE_INTEGER, id: FIRST_ID };

/**
 * Events in the order of their positions. Transactions commit in another order than they start, so a page
 * ends before the first event that a running transaction might still precede.
 */
export async function listEventsAfter(db: Queries, options: PageOptions): Promise<FeedPage> {
  const rows = await listRows(db, options);
  const firstUnsettled = rows.findIndex(({ is_settled }) => !is_settled);
  const settled = firstUnsettled === -1 ? rows : rows.slice(0, firstUnsettled);
  const events = settled.map(({ is_settled: _, transaction_id: transactionId, ...row }) => ({
    ...row,
    position: { transactionId, id: row.id },
  }));
  return {
    events,
    position: events.at(-1)?.position ?? options.after,
    hasMore: firstUnsettled === -1 && rows.length === options.limit,
    isHeldBack: firstUnsettled !== -1,
  };
}

const FEED_ROW = { ...eventRow, transaction_id: 'int8', is_settled: 'bool' } as const;

function listRows(db: Queries, { after, until = EVERYTHING, filter = {}, limit }: PageOptions) {
  if (filter.assetId !== undefined)
    return db.all(sql('feed of asset', FEED_ROW)`
      select ${EVENT}, transaction_id, transaction_id < (select oldest_event_transaction()) as is_settled
        from events
       where asset_id = ${filter.assetId}
         and (transaction_id, id) > (${after.transactionId}::bigint, ${after.id}::uuid)
         and (transaction_id, id) <= (${until.transactionId}::bigint, ${until.id}::uuid)
       order by transaction_id, id
       limit ${limit}`);
  if (filter.ownerUserId !== undefined)
    return db.all(sql('feed of owner', FEED_ROW)`
      select ${EVENT}, transaction_id, transaction_id < (select oldest_event_transaction()) as is_settled
        from events
       where owner_user_id = ${filter.ownerUserId}
         and (transaction_id, id) > (${after.transactionId}::bigint, ${after.id}::uuid)
         and (transaction_id, id) <= (${until.transactionId}::bigint, ${until.id}::uuid)
       order by transaction_id, id
       limit ${limit}`);
  return db.all(sql('feed of all', FEED_ROW)`
    select ${EVENT}, transaction_id, transaction_id < (select oldest_event_transaction()) as is_settled
      from events
     where (transaction_id, id) > (${after.transactionId}::bigint, ${after.id}::uuid)
       and (transaction_id, id) <= (${until.transactionId}::bigint, ${until.id}::uuid)
     order by transaction_id, id
     limit ${limit}`);
}

/**
 * `head`: before every event that is not settled yet, so that a client who starts here misses no later event.
 * `newest`: no event has a higher transaction id.
 */
export async function findFeedHead(db: Queries): Promise<{ head: Position; newest: number }> {
  const row = await db.one(sql('feed head', { oldest: 'int8', newest: 'int8' })`
    select oldest_event_transaction() as oldest,
           event_transaction(pg_snapshot_xmax(pg_current_snapshot())) as newest`);
  const { oldest = 0, newest = 0 } = row ?? {};
  return { head: { transactionId: oldest, id: FIRST_ID }, newest };
}

/**
 * Keeps positions rising after the database was restored into a server that counts transactions from the
 * start. Clients would otherwise miss every event until the count passes their position. True if it did.
 */
export const raisePositions = async (db: Queries): Promise<boolean> =>
  (await db.one(sql('raise positions', { is_raised: 'bool' })`select raise_event_positions() as is_raised`))
    ?.is_raised === true;
