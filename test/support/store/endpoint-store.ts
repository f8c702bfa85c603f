// A migrated database for tests of outbound webhooks: events, endpoints, and the operations on them.
import { randomUUID } from 'node:crypto';
import {
  claimDueDeliveries,
  type LeasedDelivery,
  recordAttempts,
} from '../../../service/src/events/endpoints/delivery-attempts.ts';
import { fanOut } from '../../../service/src/events/endpoints/fan-out.ts';
import { planDelivery } from '../../../service/src/events/endpoints/retry-plan.ts';
import {
  createEndpoint,
  getEndpoint,
  rotateSecret,
  updateEndpoint,
} from '../../../service/src/events/endpoints/webhook-endpoints.ts';
import { createEventsContext } from '../../../service/src/events/context.fixture.ts';
import type { EventsContext } from '../../../service/src/events/context.ts';
import { offer } from '../../../service/src/platform/values/offer.ts';
import { uuidV7 } from '../../../service/src/platform/values/uuid-v7.ts';
import { openTestDatabase, rowsOf, type TestPostgres } from '../postgres/postgres.ts';

export type EndpointStore = Awaited<ReturnType<typeof openEndpointStore>>;

export async function openEndpointStore(server: TestPostgres) {
  const connection = await server.migrated();
  const db = openTestDatabase(connection);
  const rows = (text: string, values: unknown[] = []) => rowsOf(connection, text, values);
  const ctx = createEventsContext({ db, notifications: { subscribe: () => () => undefined } });
  return {
    ctx,
    connection,
    db,
    rows,
    ...offer(ctx, { createEndpoint, getEndpoint, updateEndpoint, rotateSecret, fanOut }),
    ...attemptsOf(ctx),
    addEvents: (events: readonly NewEvent[]) => addEvents(rows, events),
    states: () =>
      rows(`select url, type, state, due_at is not null as is_due from endpoint_deliveries
              join webhook_endpoints on webhook_endpoints.id = endpoint_id order by url, seq`),
    reset: () => rows('delete from webhook_endpoints; delete from endpoint_deliveries; delete from events'),
    close: () => db.close(),
  };
}

type NewEvent = { readonly asset: string; readonly type: string };

/** In one transaction. Returns the ids of the events. */
async function addEvents(
  rows: (text: string, values: unknown[]) => Promise<unknown>,
  events: readonly NewEvent[],
): Promise<string[]> {
  const ids = events.map(() => uuidV7());
  await rows(
    `insert into events (id, asset_id, owner_user_id, type, data, created_at, revision)
     select id, asset_id, 'ann', type, '{"attempt": 1}', now(), 1
       from unnest($1::uuid[], $2::uuid[], $3::text[]) as added (id, asset_id, type)`,
    [ids, events.map(({ asset }) => asset), events.map(({ type }) => type)],
  );
  return ids;
}

const LIMITS = { free: 64, total: 64, perEndpoint: 8, perFailingEndpoint: 2, leaseMs: 30_000 };

const attemptsOf = (ctx: EventsContext) => ({
  claim: (limits: Partial<typeof LIMITS> = {}) => claimDueDeliveries(ctx, { ...LIMITS, ...limits }),
  /** Records that the endpoint responded with this status; null: it did not respond. */
  record: (deliveries: readonly LeasedDelivery[], status: number | null) =>
    recordAttempts(
      ctx,
      deliveries.map(({ id, holder, endpoint_id: endpointId, attempts }) => ({
        id,
        holder,
        endpointId,
        attempt: { at: '', status, latency_ms: 1, response_head: null, error: null },
        plan: planDelivery({ status, attempts: attempts + 1 }, { delaysMs: [60_000], random: () => 0 }),
      })),
    ),
});

/** Ids of assets, in their order. */
export const [A, B, C] = [randomUUID(), randomUUID(), randomUUID()].sort() as [string, string, string];
