// Deletes and restores assets (contract B2).
import { deleteAsset, restoreAsset } from '@mediary/contract/operations/media';
import { toActorData } from '../assets/actor.ts';
import type { Asset } from '../assets/asset.ts';
import type { EventData } from '../assets/asset-event.ts';
import { toAssetView } from '../assets/asset-view.ts';
import type { Guards } from '../assets/asset-guards.hook.ts';
import type { DeletedAsset, DeleteRequest } from './trash.ts';

type Trash = {
  deleteAsset(asset: Asset, removing: DeleteRequest): Promise<DeletedAsset>;
  restoreAsset(asset: Asset, note: EventData): Promise<Asset>;
};

export const trashRoutes = (trash: Trash, { changingTrash }: Guards, publicBaseUrl: () => string) => [
  changingTrash(deleteAsset, ({ asset, actor, query, headers }) =>
    trash.deleteAsset(asset, {
      isForGood: query.purge ?? true,
      ifMatch: headers['if-match'],
      note: toActorData(actor, asset),
    }),
  ),
  changingTrash(restoreAsset, async ({ asset, actor }) =>
    toAssetView(await trash.restoreAsset(asset, toActorData(actor, asset)), publicBaseUrl()),
  ),
];
