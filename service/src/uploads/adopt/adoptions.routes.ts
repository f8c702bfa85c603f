// Adopts files of the operator's storage, for operators (contract B11).
import { adoptObject } from '@mediary/contract/operations/admin/adoptions';
import { type AssetViewContext, toAssetView } from '../../assets/asset-view.ts';
import type { AsOperator } from '../../platform/http/route.ts';
import type { UploadsContext } from '../context.ts';
import { adoptObject as adopt } from './adoptions.ts';

export const adoptionRoutes = (ctx: UploadsContext, asOperator: AsOperator, view: AssetViewContext) => [
  asOperator(adoptObject, async ({ body }) => {
    const { asset, isExisting } = await adopt(ctx, body);
    return { asset: asset && toAssetView(asset, view), is_existing: isExisting };
  }),
];
