// The timeline of an asset, and live events (contract B2, B8).
import { createEventTicket, streamAssetEvents, streamEvents } from '@mediary/contract/operations/events';
import { getTimeline } from '@mediary/contract/operations/media';
import type { Guards } from '../assets/asset-guards.hook.ts';
import type { createEventTicket as createTicket } from '../auth/event-tickets.ts';
import type { Bound } from '../platform/bind.ts';
import type { Input, Route } from '../platform/http/route.ts';
import type { OpenStream } from './event-streams.ts';
import { parsePosition } from './feed-position.ts';
import type { listTimeline } from './timeline.ts';

type EventOperations = {
  readonly listTimeline: Bound<typeof listTimeline>;
  readonly openStream: OpenStream;
  readonly createEventTicket: Bound<typeof createTicket>;
  readonly publicBaseUrl: () => string;
};

export const eventRoutes = (
  { listTimeline, openStream, ...operations }: EventOperations,
  guards: Guards,
): Route[] => [
  guards.ownAsset(getTimeline, async ({ asset, query: { cursor, limit } }) => {
    const { items, next } = await listTimeline(asset.id, { after: cursor, limit });
    return { items, next_cursor: next };
  }),
  guards.followingAsset(streamAssetEvents, ({ asset, caller, query, headers }, connect) =>
    openStream({ filter: { assetId: asset.id }, caller, after: findPosition(query, headers) }, connect),
  ),
  guards.followingOwner(streamEvents, ({ ownerUserId, caller, query, headers }, connect) =>
    openStream({ filter: { ownerUserId }, caller, after: findPosition(query, headers) }, connect),
  ),
  guards.asSecretCreator(createEventTicket, async ({ actor }) => {
    const { ticket, expiresAt } = await operations.createEventTicket(actor.caller, actor.ownerUserId);
    const url = `${operations.publicBaseUrl()}${streamEvents.path}?ticket=${ticket}`;
    return { ticket, expires_at: expiresAt.toISOString(), url };
  }),
];

/** The header, which clients send by themselves when they connect again, precedes the query. */
function findPosition(
  { last_event_id: named }: { last_event_id?: string },
  { 'last-event-id': header }: Input['headers'],
) {
  if (typeof header === 'string' && header !== '') return parsePosition(header, 'Last-Event-ID');
  return named === undefined ? undefined : parsePosition(named, 'last_event_id');
}
