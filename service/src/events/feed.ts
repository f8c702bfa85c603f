// Reads what happened; whoever changed state wrote it down with the change (contract B8).
import { badRequest } from '../platform/errors.ts';
import type { Database } from '../platform/postgres/database.ts';
import { listEvents } from './feed.sql.ts';
import { type TimelineEntry, toTimeline } from './timeline-entry.ts';

export type FeedNeeds = { readonly db: Database };

/** `after`: the id of an entry, left out itself; the first one after it is still told how long after it it came. Throws BAD_REQUEST where the timeline has no such entry. */
export async function listTimeline(
  { db }: FeedNeeds,
  assetId: string,
  { after, limit }: { after?: string | undefined; limit: number },
): Promise<{ items: TimelineEntry[]; next: string | null }> {
  const rows = await listEvents(db, assetId, { from: after, limit: limit + 2 });
  if (after !== undefined && rows.length === 0)
    throw badRequest('Invalid cursor', { field: 'cursor', reason: 'invalid_cursor' });
  const entries = toTimeline(rows).slice(after === undefined ? 0 : 1);
  const items = entries.slice(0, limit);
  return { items, next: entries.length > limit ? (items.at(-1)?.id ?? null) : null };
}
