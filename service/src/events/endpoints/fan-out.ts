// Creates a delivery of each new event for each endpoint that asks for it (contract B8).
import type { Database } from '../../platform/postgres/database.ts';
import { uuidV7 } from '../../platform/uuid-v7.ts';
import { listEventsAfter } from '../feed.sql.ts';
import type { FeedEvent } from '../feed-event.ts';
import type { Position } from '../feed-position.ts';
import { insertDeliveries } from './endpoint-deliveries.sql.ts';
import type { NewDelivery } from './endpoint-delivery.ts';
import { lockCursor, lockSubscribers, moveCursor } from './fan-out.sql.ts';
import { isSubscribed } from './webhook-endpoint.ts';

type FanOutResult = {
  /** New deliveries. */
  readonly scheduled: number;
  /** Further events are stored already. */
  readonly hasMore: boolean;
  /** A running transaction holds events back. */
  readonly isHeldBack: boolean;
};

const PAGE = 200;
const NOTHING: FanOutResult = { scheduled: 0, hasMore: false, isHeldBack: false };
const LAST_ID = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

/**
 * Deliveries and the cursor commit together, so each event is scheduled once for an endpoint; one process
 * does this at a time. The subscribers are read after the events: an endpoint that was activated before one
 * of them is visible then.
 */
export const fanOut = ({ db }: { readonly db: Database }): Promise<FanOutResult> =>
  db.transaction(async (tx) => {
    const cursor = await lockCursor(tx);
    if (!cursor || cursor.active_after === null) return NOTHING;
    // Events from before the first activation are skipped without reading them.
    const skipped = {
      transactionId: Math.min(cursor.active_after, cursor.oldest_transaction - 1),
      id: LAST_ID,
    };
    const stored = { transactionId: cursor.transaction_id, id: cursor.event_id };
    const after = isLater(skipped, stored) ? skipped : stored;
    const page = await listEventsAfter(tx, { after, limit: PAGE });
    if (page.events.length === 0) return page.isHeldBack ? { ...NOTHING, isHeldBack: true } : NOTHING;
    const deliveries = toDeliveries(page.events, await lockSubscribers(tx));
    const added = deliveries.length > 0 ? await insertDeliveries(tx, deliveries) : [];
    await moveCursor(tx, page.position);
    return { scheduled: added.length, hasMore: page.hasMore, isHeldBack: page.isHeldBack };
  });

const isLater = (a: Position, b: Position): boolean =>
  a.transactionId === b.transactionId ? a.id > b.id : a.transactionId > b.transactionId;

type Subscribers = Awaited<ReturnType<typeof lockSubscribers>>;

const toDeliveries = (events: readonly FeedEvent[], subscribers: Subscribers): NewDelivery[] =>
  events.flatMap((event) =>
    subscribers
      .filter(({ events: types, active_after: activeAfter }) =>
        isSubscribed(
          { events: types, activeAfter },
          { type: event.type, transactionId: event.position.transactionId },
        ),
      )
      .map(({ id }) => ({
        id: uuidV7(),
        endpoint_id: id,
        event_id: event.id,
        asset_id: event.asset_id,
        type: event.type,
      })),
  );
