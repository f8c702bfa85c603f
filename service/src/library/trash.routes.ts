// Removing and restoring assets (contract B2).
import { Type } from 'typebox';
import { toActorData } from '../assets/actor.ts';
import type { Asset } from '../assets/asset.ts';
import type { EventData } from '../assets/asset-event.ts';
import { AssetView, Owner, toAssetView } from '../assets/asset-view.ts';
import type { Guards } from '../assets/asset-guards.hook.ts';
import type { DeletedAsset, DeleteRequest } from './trash.ts';

type Trash = {
  deleteAsset(asset: Asset, removing: DeleteRequest): Promise<DeletedAsset>;
  restoreAsset(asset: Asset, note: EventData): Promise<Asset>;
};

const OwnerOnly = Type.Object({ owner_user_id: Owner });
const Removal = Type.Object({
  owner_user_id: Owner,
  purge: Type.Boolean({
    default: true,
    description:
      'false keeps the asset restorable for TRASH_DAYS and changes nothing on an asset that is in the trash already; true purges it',
  }),
});
const RemovedView = Type.Object({ id: Type.String(), deleted: Type.Literal(true) });

export const trashRoutes = (trash: Trash, { changingTrash }: Guards, publicBaseUrl: () => string) => [
  changingTrash({
    method: 'DELETE',
    url: '/media/:id',
    message: 'Asset deleted',
    summary: 'Deletes an asset: it stops playing at once, and a job removes its bytes',
    query: Removal,
    body: OwnerOnly,
    answer: RemovedView,
    errors: [403, 404, 412],
    handle: ({ asset, actor, query, headers }) =>
      trash.deleteAsset(asset, {
        isForGood: query.purge,
        ifMatch: headers['if-match'],
        note: toActorData(actor, asset),
      }),
  }),
  changingTrash({
    method: 'POST',
    url: '/media/:id/restore',
    message: 'Asset restored',
    summary: 'Brings an asset back that was removed with purge=false',
    body: OwnerOnly,
    answer: AssetView,
    errors: [403, 404, 409],
    handle: async ({ asset, actor }) =>
      toAssetView(await trash.restoreAsset(asset, toActorData(actor, asset)), publicBaseUrl()),
  }),
];
