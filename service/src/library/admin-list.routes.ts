// For operators: the assets of all owners, or of one (contract B3, B9).
import { ListAllAssetsQuery } from '@mediary/contract/schemas/library';
import { Type } from 'typebox';
import { AssetView, nullable, toAssetView } from '../assets/asset-view.ts';
import { parsePlainText } from '../assets/query-values.ts';
import type { guarded } from '../platform/http/route.ts';
import type { ListQuery } from './asset-filter.ts';
import type { AssetPage } from './asset-list.ts';

type AsOperator = ReturnType<typeof guarded<undefined, object>>;
type Lists = { listAssetPage(owner: string | undefined, query: ListQuery): Promise<AssetPage> };

const Page = Type.Object({
  items: Type.Array(AssetView),
  next_cursor: nullable(Type.String()),
  total: Type.Optional(Type.Integer()),
});

export const adminListRoutes = (lists: Lists, asOperator: AsOperator, publicBaseUrl: () => string) => [
  asOperator({
    method: 'GET',
    url: '/admin/media',
    message: 'Assets',
    summary: 'Lists assets of all owners, newest first',
    query: ListAllAssetsQuery,
    answer: Page,
    handle: async ({ query: { owner_user_id: owner, ...query } }) => {
      const { items, nextCursor, total } = await lists.listAssetPage(
        parsePlainText('owner_user_id', owner),
        query as ListQuery,
      );
      return {
        items: items.map((asset) => toAssetView(asset, publicBaseUrl())),
        next_cursor: nextCursor,
        ...(total !== undefined && { total }),
      };
    },
  }),
];
