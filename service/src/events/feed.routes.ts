// Lists what happened to one asset, for its owner (contract B2).
import { getTimeline } from '@mediary/contract/operations/media';
import type { Guards } from '../assets/asset-guards.hook.ts';
import type { TimelineEntry } from './timeline-entry.ts';

type Feed = {
  listTimeline(
    assetId: string,
    page: { after?: string | undefined; limit: number },
  ): Promise<{ items: TimelineEntry[]; next: string | null }>;
};

export const timelineRoutes = (feed: Feed, { ownAsset }: Guards) => [
  ownAsset(getTimeline, async ({ asset, query }) => {
    const { items, next } = await feed.listTimeline(asset.id, { after: query.cursor, limit: query.limit });
    return { items, next_cursor: next };
  }),
];
