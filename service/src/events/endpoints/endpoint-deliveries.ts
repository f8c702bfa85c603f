// Lists deliveries to webhook endpoints, sends events again, and deletes old deliveries (contract B8).
import type { ResendEventsRequest } from '@mediary/contract/schemas/webhook-endpoints';
import { parseIdAt } from '../../assets/text-limits.ts';
import { createCursor, readCursor } from '../../auth/list-cursor.ts';
import { badRequest, notFound } from '../../platform/http/errors.ts';
import type { Database } from '../../platform/postgres/database.ts';
import { deleteInBatches } from '../../platform/postgres/delete-in-batches.ts';
import { firstIdOf, isUuid, timeOf } from '../../platform/values/uuid.ts';
import { uuidV7 } from '../../platform/values/uuid-v7.ts';
import type { EventsContext } from '../context.ts';
import {
  deleteDeliveriesBelow,
  findDelivery,
  hastenDelivery,
  insertDeliveries,
  listDeliveries,
  listEventsBetween,
  releaseWaitingDeliveries,
} from './endpoint-deliveries.sql.ts';
import type { EndpointDelivery } from './endpoint-delivery.ts';
import type { WebhookEndpoint } from './webhook-endpoint.ts';
import { lockEndpoint } from './webhook-endpoints.sql.ts';

type DeliveriesRequest = {
  readonly limit: number;
  readonly cursor?: string | undefined;
  readonly state?: string | undefined;
};

/** Newest first. */
export async function listDeliveryPage(
  { db, urlSecrets }: EventsContext,
  { id: endpointId }: WebhookEndpoint,
  { limit, cursor, state }: DeliveriesRequest,
): Promise<{ readonly items: readonly EndpointDelivery[]; readonly next: string | null }> {
  const scope = { list: 'endpoint deliveries', endpointId, state };
  const belowId = cursor === undefined ? undefined : readCursor(urlSecrets, scope, cursor);
  const rows = await listDeliveries(db, { endpointId, state, belowId }, limit + 1);
  const items = rows.slice(0, limit);
  const last = items.at(-1);
  return { items, next: rows.length > limit && last ? createCursor(urlSecrets, scope, last.id) : null };
}

/** Returns the pending delivery, or a new one of the same event. */
export async function resendDelivery(
  { db }: EventsContext,
  { id: endpointId }: WebhookEndpoint,
  id: string,
): Promise<EndpointDelivery> {
  const delivery = isUuid(id) ? await findDelivery(db, endpointId, id) : undefined;
  if (!delivery) throw notFound('No such delivery to this webhook endpoint');
  const { event_id, asset_id, type } = delivery;
  const added = { id: uuidV7(), endpoint_id: endpointId, event_id, asset_id, type };
  const scheduled = await db.transaction(async (tx) => {
    await lockEndpoint(tx, endpointId);
    const hastened = await hastenDelivery(tx, delivery.id);
    if (hastened) return hastened;
    await insertDeliveries(tx, [added]);
    return findDelivery(tx, endpointId, added.id);
  });
  // Another delivery of the event is pending already.
  return scheduled ?? delivery;
}

const PAGE = 500;
/** Limits the duration of one request. */
const MAX_RESENT = 10_000;

/** `nextSince`: where the next request continues, if more events match. */
type ResendSummary = { readonly scheduled: number; readonly nextSince: Date | null };

export async function resendEvents(
  { db, clocks }: EventsContext,
  endpoint: WebhookEndpoint,
  request: ResendEventsRequest,
): Promise<ResendSummary> {
  const range = toRange(request, clocks.now());
  const types = request.types?.length ? request.types : endpoint.events;
  const events = await listEventsBetween(db, range, { types, limit: MAX_RESENT });
  let scheduled = 0;
  for (let start = 0; start < events.length; start += PAGE)
    scheduled += await scheduleEvents(db, endpoint, events.slice(start, start + PAGE));
  return { scheduled, nextSince: events.length < MAX_RESENT ? null : latestTimeOf(events) };
}

type ResentEvent = Awaited<ReturnType<typeof listEventsBetween>>[number];

/** Returns the number of new deliveries. */
async function scheduleEvents(
  db: Database,
  { id: endpointId }: WebhookEndpoint,
  events: readonly ResentEvent[],
): Promise<number> {
  const deliveries = events.map(({ id, ...event }) => ({
    ...event,
    id: uuidV7(),
    endpoint_id: endpointId,
    event_id: id,
  }));
  const added = await db.transaction(async (tx) => {
    await lockEndpoint(tx, endpointId);
    return insertDeliveries(tx, deliveries);
  });
  return added.length;
}

const latestTimeOf = (events: readonly ResentEvent[]): Date =>
  new Date(Math.max(...events.map(({ id }) => timeOf(id).getTime())));

function toRange({ since, until }: ResendEventsRequest, now: Date): { fromId: string; belowId: string } {
  const fromId = parseIdAt('since', since, Math.ceil) ?? '';
  const belowId = parseIdAt('until', until, Math.ceil) ?? firstIdOf(now.getTime());
  if (fromId > belowId) throw badRequest('since must be before until', { field: 'since' });
  return { fromId, belowId };
}

const DAY_MS = 86_400_000;

/** Returns the number of deleted deliveries. */
export async function deleteOldEndpointDeliveries({ db, clocks, settings }: EventsContext): Promise<number> {
  const now = await clocks.databaseNow();
  const belowId = firstIdOf(now.getTime() - settings.webhookRetentionDays * DAY_MS);
  const total = await deleteInBatches((limit) => deleteDeliveriesBelow(db, belowId, limit));
  if (total > 0) await releaseWaitingDeliveries(db);
  return total;
}
