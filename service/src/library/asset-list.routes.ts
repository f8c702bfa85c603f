// The list of assets (contract B3).
import { ProviderName } from '@mediary/contract/schemas/common';
import { Type } from 'typebox';
import type { ListQuery as Query } from './asset-filter.ts';
import type { AssetPage } from './asset-list.ts';
import { AssetView, nullable, Owner, toAssetView } from '../assets/asset-view.ts';
import type { Guards } from '../assets/asset-guards.hook.ts';

type Lists = { listAssetPage(owner: string, query: Query): Promise<AssetPage> };

const ListQuery = Type.Object({
  limit: Type.Integer({ minimum: 1, maximum: 200, default: 50 }),
  cursor: Type.Optional(Type.String({ description: '`next_cursor` of the page before' })),
  sort: Type.Enum(['created_at', '-created_at'], { default: '-created_at' }),
  kind: Type.Optional(Type.Enum(['image', 'video'])),
  stream_status: Type.Optional(Type.Enum(['pending_upload', 'processing', 'ready', 'failed'])),
  status: Type.Optional(
    Type.Enum(['pending_upload', 'processing', 'ready', 'failed'], {
      description: 'Alias of `stream_status`',
    }),
  ),
  provider: Type.Optional(ProviderName),
  tag: Type.Optional(Type.String({ minLength: 1, maxLength: 100 })),
  q: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 200,
      description: 'Part of the title or the file name, in any case',
    }),
  ),
  created_after: Type.Optional(Type.String({ description: 'ISO 8601; not itself included' })),
  created_before: Type.Optional(Type.String({ description: 'ISO 8601; not itself included' })),
  deleted: Type.Optional(Type.Boolean({ description: 'True: those that can be restored' })),
  count: Type.Optional(Type.Boolean({ description: 'True: `total` counts all that match' })),
  owner_user_id: Owner,
});
const ListAnswer = Type.Object({
  items: Type.Array(AssetView),
  next_cursor: nullable(Type.String()),
  total: Type.Optional(Type.Integer()),
});

export const assetListRoutes = (lists: Lists, { asReader }: Guards, publicBaseUrl: () => string) => [
  asReader({
    method: 'GET',
    url: '/media',
    message: 'Assets',
    summary: "Lists the owner's assets, newest first",
    query: ListQuery,
    answer: ListAnswer,
    handle: async ({ actor, query }) => {
      const { items, nextCursor, total } = await lists.listAssetPage(actor.ownerUserId, query as Query);
      return {
        items: items.map((asset) => toAssetView(asset, publicBaseUrl())),
        next_cursor: nextCursor,
        ...(total !== undefined && { total }),
      };
    },
  }),
];
