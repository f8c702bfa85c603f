// SQL queries of the fan-out: its cursor in the event feed, and the endpoints that receive events.
import type { Transaction } from '../../platform/postgres/database.ts';
import { sql } from '../../platform/postgres/sql.ts';

const CURSOR = {
  transaction_id: 'int8',
  event_id: 'uuid',
  active_after: 'int8?',
  oldest_transaction: 'int8',
} as const;

/**
 * Undefined while another process holds the cursor. `active_after`: the earliest activation of an enabled
 * endpoint; null: there is none. Endpoints whose transaction is running are not visible yet, but activated
 * after `oldest_transaction`.
 */
export const lockCursor = (tx: Transaction) =>
  tx.one(sql('lock event cursor', CURSOR)`
    select transaction_id, event_id,
           (select min(active_after) from webhook_endpoints where status = 'enabled') as active_after,
           oldest_event_transaction() as oldest_transaction
      from event_cursors
     where name = 'webhooks'
       for no key update of event_cursors skip locked`);

export const moveCursor = (
  tx: Transaction,
  { transactionId, id }: { readonly transactionId: number; readonly id: string },
) =>
  tx.all(sql('move event cursor')`
    update event_cursors set transaction_id = ${transactionId}, event_id = ${id} where name = 'webhooks'`);

/** The lock makes the end of an attempt wait until the new deliveries are visible to it. */
export const lockSubscribers = (tx: Transaction) =>
  tx.all(sql('lock subscribers', { id: 'uuid', events: 'text[]', active_after: 'int8' })`
    select id, events, active_after from webhook_endpoints
     where status = 'enabled' order by id for share`);
