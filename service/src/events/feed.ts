// Reads what happened; whoever changed state wrote it down with the change (contract B8).
import type { Database } from '../platform/postgres/database.ts';
import { listEvents } from './feed.sql.ts';
import { type TimelineEntry, toTimeline } from './timeline-entry.ts';

export type FeedNeeds = { readonly db: Database };

const FIRST = '00000000-0000-0000-0000-000000000000';

/** `after`: the id of an entry, left out itself; the first one after it is still told how long after it it came. */
export async function listTimeline(
  { db }: FeedNeeds,
  assetId: string,
  { after = FIRST, limit }: { after?: string | undefined; limit: number },
): Promise<{ items: TimelineEntry[]; next: string | null }> {
  const rows = await listEvents(db, assetId, { from: after, limit: limit + 2 });
  const entries = toTimeline(rows).filter(({ id }) => id > after.toLowerCase());
  const items = entries.slice(0, limit);
  return { items, next: entries.length > limit ? (items.at(-1)?.id ?? null) : null };
}
