// Lists the events of an asset as timeline entries; the events were stored with each change (contract B8).
import { badRequest } from '../platform/errors.ts';
import type { EventsContext } from './context.ts';
import { listEvents } from './timeline.sql.ts';
import { type TimelineEntry, toTimeline } from './timeline-entry.ts';

/** `after`: id of the last entry of the previous page. Throws BAD_REQUEST if the asset has no such entry. */
export async function listTimeline(
  { db }: Pick<EventsContext, 'db'>,
  assetId: string,
  { after, limit }: { after?: string | undefined; limit: number },
): Promise<{ items: TimelineEntry[]; next: string | null }> {
  // Reads the entry `after` too: the latency of the next entry counts from it.
  const rows = await listEvents(db, assetId, { from: after, limit: limit + 2 });
  if (after !== undefined && rows.length === 0)
    throw badRequest('Invalid cursor', { field: 'cursor', reason: 'invalid_cursor' });
  const entries = toTimeline(rows).slice(after === undefined ? 0 : 1);
  const items = entries.slice(0, limit);
  return { items, next: entries.length > limit ? (items.at(-1)?.id ?? null) : null };
}
