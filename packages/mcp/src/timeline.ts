// The last entries of the timeline of an asset.
import type { CallOptions, TimelineEntry, TimelineQuery } from '@mediary/client';

type LastEntries = {
  readonly items: readonly TimelineEntry[];
  /** How many entries were left out: progress that went on, and the oldest ones. */
  readonly omitted: number;
};

const MAX_ENTRIES = 100;
const PAGE = 200;

type TimelineSource = {
  timeline(id: string, query: TimelineQuery, options: CallOptions): AsyncIterable<TimelineEntry>;
};

/**
 * The API has the oldest entries first, but the last ones tell why an asset waits. Of a series of progress
 * entries the last one is enough.
 */
export async function readLastEntries(
  { media }: { readonly media: TimelineSource },
  id: string,
  options: CallOptions,
): Promise<LastEntries> {
  const items: TimelineEntry[] = [];
  let count = 0;
  for await (const entry of media.timeline(id, { limit: PAGE }, options)) {
    count += 1;
    if (isProgress(entry) && isProgress(items.at(-1))) items.pop();
    items.push(entry);
    if (items.length > MAX_ENTRIES) items.shift();
  }
  return { items, omitted: count - items.length };
}

const isProgress = (entry: TimelineEntry | undefined): boolean => entry?.type === 'asset.progress';
