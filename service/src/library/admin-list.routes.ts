// For operators: the assets of all owners, or of one (contract B3, B9).
import { listAllAssets } from '@mediary/contract/operations/operators';
import { toAssetView } from '../assets/asset-view.ts';
import { parsePlainText } from '../assets/query-values.ts';
import type { AsOperator } from '../platform/http/route.ts';
import type { ListQuery } from './asset-filter.ts';
import type { AssetPage } from './asset-list.ts';

type Lists = { listAssetPage(owner: string | undefined, query: ListQuery): Promise<AssetPage> };

export const adminListRoutes = (lists: Lists, asOperator: AsOperator, publicBaseUrl: () => string) => [
  asOperator(listAllAssets, async ({ query: { owner_user_id: owner, ...query } }) => {
    const { items, nextCursor, total } = await lists.listAssetPage(
      parsePlainText('owner_user_id', owner),
      query as ListQuery,
    );
    return {
      items: items.map((asset) => toAssetView(asset, publicBaseUrl())),
      next_cursor: nextCursor,
      ...(total !== undefined && { total }),
    };
  }),
];
