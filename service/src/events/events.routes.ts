// The timeline of an asset, and live events (contract B2, B8).
import { createEventTicket, streamAssetEvents, streamEvents } from '@mediary/contract/operations/events';
import { getTimeline } from '@mediary/contract/operations/media';
import type { Input, Route } from '../platform/http/route.ts';
import type { EventsContext } from './context.ts';
import type { OpenStream } from './event-streams.ts';
import { parsePosition } from './feed-event.ts';
import { listTimeline } from './timeline.ts';

export const eventRoutes = (ctx: EventsContext, openStream: OpenStream): Route[] => [
  ctx.guards.ownAsset(getTimeline, async ({ asset, caller, query: { cursor, limit } }) => {
    const isOwner = caller.kind === 'user';
    const { items, next } = await listTimeline(ctx, asset.id, { after: cursor, limit, isOwner });
    return { items, next_cursor: next };
  }),
  ctx.guards.followingAsset(streamAssetEvents, ({ asset, caller, query, headers }, connect) =>
    openStream({ filter: { assetId: asset.id }, caller, after: findPosition(query, headers) }, connect),
  ),
  ctx.guards.followingOwner(streamEvents, ({ ownerUserId, caller, query, headers }, connect) =>
    openStream({ filter: { ownerUserId }, caller, after: findPosition(query, headers) }, connect),
  ),
  ctx.guards.asSecretCreator(createEventTicket, async ({ actor }) => {
    const { ticket, expiresAt } = await ctx.auth.createEventTicket(actor.caller, actor.ownerUserId);
    const url = `${ctx.service.publicBaseUrl()}${streamEvents.path}?ticket=${ticket}`;
    return { ticket, expires_at: expiresAt.toISOString(), url };
  }),
];

/** Clients send the header by themselves when they reconnect, so it precedes the query. */
function findPosition(
  { last_event_id: named }: { last_event_id?: string },
  { 'last-event-id': header }: Input['headers'],
) {
  if (typeof header === 'string' && header !== '') return parsePosition(header, 'Last-Event-ID');
  return named === undefined ? undefined : parsePosition(named, 'last_event_id');
}
