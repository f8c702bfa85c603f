// Reads what happened; whoever changed state wrote it down with the change (contract B8).
import type { Database } from '../platform/postgres/database.ts';
import { eventsOf } from './feed.sql.ts';
import { type TimelineEntry, timelineOf } from './timeline-entry.ts';

export type FeedNeeds = { readonly db: Database };

const FIRST = '00000000-0000-0000-0000-000000000000';

/** `after`: the id of an entry, left out itself; the first one after it is still told how long after it it came. */
export async function timeline(
  { db }: FeedNeeds,
  assetId: string,
  { after = FIRST, limit }: { after?: string | undefined; limit: number },
): Promise<{ items: TimelineEntry[]; next: string | null }> {
  const rows = await eventsOf(db, assetId, { from: after, limit: limit + 2 });
  const entries = timelineOf(rows).filter(({ id }) => id > after.toLowerCase());
  const items = entries.slice(0, limit);
  return { items, next: entries.length > limit ? (items.at(-1)?.id ?? null) : null };
}
