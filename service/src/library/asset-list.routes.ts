// The list of assets (contract B3).
import { listAssets } from '@mediary/contract/operations/media';
import type { ListQuery as Query } from './asset-filter.ts';
import type { AssetPage } from './asset-list.ts';
import { toAssetView } from '../assets/asset-view.ts';
import type { Guards } from '../assets/asset-guards.hook.ts';

type Lists = { listAssetPage(owner: string, query: Query): Promise<AssetPage> };

export const assetListRoutes = (lists: Lists, { asReader }: Guards, publicBaseUrl: () => string) => [
  asReader(listAssets, async ({ actor, query }) => {
    const { items, nextCursor, total } = await lists.listAssetPage(actor.ownerUserId, query as Query);
    return {
      items: items.map((asset) => toAssetView(asset, publicBaseUrl())),
      next_cursor: nextCursor,
      ...(total !== undefined && { total }),
    };
  }),
];
