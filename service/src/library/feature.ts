// Library: listing, editing, deleting and restoring assets.
import type { AppContext } from '../app-context.ts';
import type { Guards } from '../assets/asset-guards.hook.ts';
import type { Lifecycle } from '../lifecycle/feature.ts';
import { bind } from '../platform/bind.ts';
import type { AsOperator } from '../platform/http/route.ts';
import type { Usage } from '../usage/feature.ts';
import { adminListRoutes } from './admin-list.routes.ts';
import { edit, type EditNeeds } from './asset-edits.ts';
import * as listOperations from './asset-list.ts';
import { assetListRoutes } from './asset-list.routes.ts';
import { assetRoutes } from './assets.routes.ts';
import * as trashOperations from './trash.ts';
import { trashRoutes } from './trash.routes.ts';

type Needs = AppContext &
  Pick<EditNeeds, 'isHosted'> &
  Pick<trashOperations.TrashNeeds, 'startJob'> & {
    readonly lifecycle: Lifecycle;
    readonly usage: Usage;
    readonly guards: Guards;
    readonly asOperator: AsOperator;
  };

export function createLibrary(needs: Needs) {
  const { db, urlSecrets, now, config, lifecycle, usage, guards, publicBaseUrl } = needs;
  const { update } = lifecycle;
  const edits = bind({ update, isHosted: needs.isHosted }, { edit });
  const trash = bind(
    { db, update, now, trashDays: config.trashDays, startJob: needs.startJob },
    trashOperations,
  );
  const restoreAsset: typeof trash.restoreAsset = (asset, note) =>
    usage.underQuota(asset.owner_user_id, () => trash.restoreAsset(asset, note));
  const lists = bind({ db, urlSecrets }, listOperations);
  return {
    operations: { emptyTrash: trash.emptyTrash },
    routes: [
      ...assetListRoutes(lists, guards, publicBaseUrl),
      ...adminListRoutes(lists, needs.asOperator, publicBaseUrl),
      ...assetRoutes(edits, guards, publicBaseUrl),
      ...trashRoutes({ deleteAsset: trash.deleteAsset, restoreAsset }, guards, publicBaseUrl),
    ],
    jobs: {},
  };
}
