// Creates a delivery of each new event for each endpoint that asks for it (contract B8).
import { uuidV7 } from '../../platform/values/uuid-v7.ts';
import type { EventsContext } from '../context.ts';
import { listEventsAfter } from '../feed.sql.ts';
import { type FeedEvent, isAfter } from '../feed-event.ts';
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
 * Commits deliveries and cursor together, so each endpoint gets each event once; one process does this at a
 * time. Reads the subscribers after the events, so that it sees every endpoint activated before an event.
 */
export const fanOut = ({ db }: Pick<EventsContext, 'db'>): Promise<FanOutResult> =>
  db.transaction(async (tx) => {
    const cursor = await lockCursor(tx);
    if (!cursor || cursor.active_after === null) return NOTHING;
    // Skips events from before the first activation without reading them.
    const skipped = {
      transactionId: Math.min(cursor.active_after, cursor.oldest_transaction - 1),
      id: LAST_ID,
    };
    const stored = { transactionId: cursor.transaction_id, id: cursor.event_id };
    const after = isAfter(skipped, stored) ? skipped : stored;
    const page = await listEventsAfter(tx, { after, limit: PAGE });
    if (page.events.length === 0) return page.isHeldBack ? { ...NOTHING, isHeldBack: true } : NOTHING;
    const deliveries = toDeliveries(page.events, await lockSubscribers(tx));
    const added = deliveries.length > 0 ? await insertDeliveries(tx, deliveries) : [];
    await moveCursor(tx, page.position);
    return { scheduled: added.length, hasMore: page.hasMore, isHeldBack: page.isHeldBack };
  });

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
