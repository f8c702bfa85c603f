// Lists the events of an asset as timeline entries; the events were stored with each change (contract B8).
import { badRequest } from '../platform/errors.ts';
import type { Database } from '../platform/postgres/database.ts';
import { listEvents } from './timeline.sql.ts';
import { type TimelineEntry, toTimeline } from './timeline-entry.ts';

type TimelineNeeds = { readonly db: Database };

/** `after`: id of the last entry of the previous page. Throws BAD_REQUEST if the asset has no such entry. */
export async function listTimeline(
  { db }: TimelineNeeds,
  assetId: string,
  { after, limit }: { after?: string | undefined; limit: number },
): Promise<{ items: TimelineEntry[]; next: string | null }> {
  // The entry `after` is read too, because the latency of the next one is measured from it.
  const rows = await listEvents(db, assetId, { from: after, limit: limit + 2 });
  if (after !== undefined && rows.length === 0)
    throw badRequest('Invalid cursor', { field: 'cursor', reason: 'invalid_cursor' });
  const entries = toTimeline(rows).slice(after === undefined ? 0 : 1);
  const items = entries.slice(0, limit);
  return { items, next: entries.length > limit ? (items.at(-1)?.id ?? null) : null };
}
