// Reading and editing one asset (contract B2).
import { getAsset, updateAsset } from '@mediary/contract/operations/media';
import { toActorData } from '../assets/actor.ts';
import type { Asset } from '../assets/asset.ts';
import type { Edit, Editing } from './asset-edits.ts';
import { toAssetView } from '../assets/asset-view.ts';
import type { Guards } from '../assets/asset-guards.hook.ts';

type Edits = { edit(asset: Asset, editing: Editing): Promise<Asset> };

export const assetRoutes = (
  edits: Edits,
  { ownAsset, changingAsset }: Guards,
  publicBaseUrl: () => string,
) => [
  ownAsset(getAsset, async ({ asset }) => toAssetView(asset, publicBaseUrl()), {
    etag: ({ asset }) => `"${asset.revision}"`,
  }),
  changingAsset(updateAsset, async ({ asset, actor, body, headers }) => {
    const { owner_user_id: _, ...edit } = body;
    const edited = await edits.edit(asset, {
      edit: edit as Edit,
      ifMatch: headers['if-match'],
      note: toActorData(actor, asset),
    });
    return toAssetView(edited, publicBaseUrl());
  }),
];
