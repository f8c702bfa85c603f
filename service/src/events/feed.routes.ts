// What happened to one asset, for whoever it belongs to (contract B2).
import { type Static, Type } from 'typebox';
import { nullable } from '../assets/asset-view.ts';
import type { Guards } from '../assets/asset-guards.hook.ts';
import type { TimelineEntry } from './timeline-entry.ts';

type Feed = {
  listTimeline(
    assetId: string,
    page: { after?: string | undefined; limit: number },
  ): Promise<{ items: TimelineEntry[]; next: string | null }>;
};

const Entry = Type.Object({
  id: Type.String(),
  at: Type.String({ format: 'date-time' }),
  type: Type.String(),
  source: Type.String({ description: 'caller, webhook, inspect, replay, sweep, service or operator' }),
  attempt: nullable(Type.Integer()),
  latency_ms: nullable(Type.Integer({ description: 'Since the entry before' })),
  sentence: Type.String({ description: 'In plain language' }),
  details: Type.Object({}, { additionalProperties: true }),
});
const Timeline = Type.Object({ items: Type.Array(Entry), next_cursor: nullable(Type.String()) });
const Query = Type.Object({
  limit: Type.Integer({ minimum: 1, maximum: 200, default: 100 }),
  cursor: Type.Optional(
    Type.String({
      format: 'uuid',
      pattern: '^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$',
      description: '`next_cursor` of the page before',
    }),
  ),
});

export const timelineRoutes = (feed: Feed, { ownAsset }: Guards) => [
  ownAsset({
    method: 'GET',
    url: '/media/:id/timeline',
    message: 'Timeline',
    summary: 'What happened to an asset, oldest first, in plain language',
    query: Query,
    answer: Timeline,
    errors: [403, 404],
    handle: async ({ asset, query }) => {
      const { items, next } = await feed.listTimeline(asset.id, { after: query.cursor, limit: query.limit });
      return { items: items as Static<typeof Entry>[], next_cursor: next };
    },
  }),
];
