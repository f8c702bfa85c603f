// The last entries of the timeline of an asset.
import type { CallOptions, Mediary, TimelineEntry } from '@mediary/client';

export type LastEntries = {
  readonly items: readonly TimelineEntry[];
  /** How many older entries were left out. */
  readonly omitted: number;
};

const MAX_ENTRIES = 100;
const PAGE = 200;

/** The API has the oldest entries first; the last ones tell why an asset waits. */
export async function readLastEntries(
  { media }: Mediary,
  id: string,
  options: CallOptions,
): Promise<LastEntries> {
  let items: TimelineEntry[] = [];
  let count = 0;
  for await (const entry of media.timeline(id, { limit: PAGE }, options)) {
    count += 1;
    items.push(entry);
    if (items.length > PAGE) items = items.slice(-MAX_ENTRIES);
  }
  items = items.slice(-MAX_ENTRIES);
  return { items, omitted: count - items.length };
}
