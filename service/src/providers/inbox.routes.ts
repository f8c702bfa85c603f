// For operators: what providers delivered, and once more of it (contract B6).
import { ProviderName } from '@mediary/contract/schemas/common';
import { type Static, Type } from 'typebox';
import { nullable } from '../assets/asset-view.ts';
import type { guarded } from '../platform/http/route.ts';
import type { Delivery, InboxQuery, ListedDelivery, Paging, Replayed, Replaying } from './inbox.ts';

type Inbox = {
  list(query: InboxQuery, page: Paging): Promise<{ items: ListedDelivery[]; next: string | null }>;
  read(id: string): Promise<Delivery>;
  replay(replaying: Replaying): Promise<{ items: Replayed[]; next: string | null }>;
};
type AsOperator = ReturnType<typeof guarded<undefined, object>>;

const FILTER = {
  provider: Type.Optional(ProviderName),
  asset_id: Type.Optional(Type.String()),
  provider_video_id: Type.Optional(Type.String()),
  processed: Type.Optional(Type.Boolean()),
  reason: Type.Optional(Type.String()),
  received_after: Type.Optional(Type.String({ description: 'ISO 8601; included' })),
  received_before: Type.Optional(Type.String({ description: 'ISO 8601; not itself included' })),
};
const LISTED = {
  id: Type.String(),
  provider: Type.String(),
  provider_video_id: nullable(Type.String()),
  asset_id: nullable(Type.String()),
  processed: Type.Boolean(),
  reason: Type.String(),
  received_at: Type.String({ format: 'date-time' }),
  latency_ms: Type.Integer({ description: 'From its arrival until it was kept' }),
};
const Listed = Type.Object(LISTED);
const Whole = Type.Object({
  ...LISTED,
  headers: Type.Record(Type.String(), Type.String()),
  body: nullable(Type.String({ description: 'As text; null where it is no UTF-8' })),
  body_base64: Type.String(),
});
const ReplayWish = Type.Object({
  id: Type.Optional(
    Type.String({ description: 'One delivery; else all that the filter names, oldest first' }),
  ),
  ...FILTER,
  dry_run: Type.Optional(
    Type.Boolean({ default: true, description: 'True: shows what would change, and changes nothing' }),
  ),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000, default: 200 })),
  cursor: Type.Optional(Type.String({ description: '`next_cursor` of the page before' })),
});
const Outcome = Type.Object({
  id: Type.String(),
  asset_id: nullable(Type.String()),
  processed: Type.Boolean(),
  reason: Type.String(),
  stream_status_before: nullable(Type.String()),
  stream_status_after: nullable(Type.String()),
  changes: Type.Array(Type.String(), { description: 'Names of the members of the asset that change' }),
});

export const inboxRoutes = (inbox: Inbox, asOperator: AsOperator) => [
  asOperator({
    method: 'GET',
    url: '/admin/deliveries',
    message: 'Deliveries',
    summary: 'What providers delivered, newest first',
    query: Type.Object({
      limit: Type.Integer({ minimum: 1, maximum: 200, default: 50 }),
      cursor: Type.Optional(Type.String()),
      ...FILTER,
    }),
    answer: Type.Object({ items: Type.Array(Listed), next_cursor: nullable(Type.String()) }),
    handle: async ({ query: { limit, cursor, ...filter } }) => {
      const { items, next } = await inbox.list(filter as InboxQuery, { limit, cursor });
      return { items: items.map(viewOf), next_cursor: next };
    },
  }),
  asOperator({
    method: 'GET',
    url: '/admin/deliveries/:id',
    message: 'Delivery',
    summary: 'One delivery with its bytes',
    answer: Whole,
    errors: [404],
    handle: async ({ params }) => wholeOf(await inbox.read(params['id'] ?? '')),
  }),
  asOperator({
    method: 'POST',
    url: '/admin/deliveries/replay',
    message: 'Replayed',
    summary: 'Applies deliveries once more; a dry run unless told otherwise',
    body: ReplayWish,
    errors: [404],
    answer: Type.Object({
      dry_run: Type.Boolean(),
      items: Type.Array(Outcome),
      next_cursor: nullable(Type.String()),
    }),
    handle: async ({ body: { id, dry_run: isDryRun = true, limit = 200, cursor, ...filter } }) => {
      const { items, next } = await inbox.replay({
        id,
        query: filter as InboxQuery,
        isDryRun,
        limit,
        cursor,
      });
      return { dry_run: isDryRun, items, next_cursor: next };
    },
  }),
];

const viewOf = ({ received_at, is_ours: _, ...row }: ListedDelivery): Static<typeof Listed> => ({
  ...row,
  received_at: received_at.toISOString(),
});

const wholeOf = ({ body, headers, ...row }: Delivery): Static<typeof Whole> => ({
  ...viewOf(row),
  headers: headers as Record<string, string>,
  body: textOf(body),
  body_base64: Buffer.from(body).toString('base64'),
});

function textOf(body: Uint8Array): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body);
  } catch {
    // No text: the base64 beside it is the whole truth.
    return null;
  }
}
