// Library: listing, editing, deleting and restoring assets.
import type { AppContext } from '../app-context.ts';
import type { Guards } from '../assets/asset-guards.hook.ts';
import type { Asset } from '../assets/asset.ts';
import { type AssetViewContext, toEtag } from '../assets/asset-view.ts';
import type { Lifecycle } from '../lifecycle/feature.ts';
import type { HeldRequests } from '../platform/concurrency/held-requests.ts';
import { bind } from '../platform/bind.ts';
import type { AsOperator } from '../platform/http/route.ts';
import type { Usage } from '../usage/feature.ts';
import { cdnPurges } from './cdn-purge.ts';
import * as editOperations from './asset-edits.ts';
import * as listOperations from './asset-list.ts';
import { assetRoutes, listRoutes } from './library.routes.ts';
import * as longPollOperations from './long-poll.ts';
import * as trashOperations from './trash.ts';

type Needs = AppContext &
  Pick<editOperations.EditNeeds, 'isHosted' | 'canSign'> &
  Pick<trashOperations.TrashNeeds, 'startJob'> & {
    readonly lifecycle: Lifecycle;
    readonly usage: Usage;
    readonly guards: Guards;
    readonly view: AssetViewContext;
    readonly asOperator: AsOperator;
    readonly heldRequests: HeldRequests;
  };

export function createLibrary(context: Needs) {
  const { config, lifecycle, usage, guards, asOperator } = context;
  const { cdnBaseUrl, purgeUrl } = config.delivery;
  const needs = {
    ...context,
    update: lifecycle.update,
    trashDays: config.trashDays,
    etagOf: (asset: Asset) => toEtag(asset, context.view),
    requestPurges: cdnPurges({
      hasCdn: cdnBaseUrl !== undefined || purgeUrl !== undefined,
      playbackBaseUrl: context.view.playbackBaseUrl,
    }),
  };
  const trash = bind(needs, trashOperations);
  const library: Parameters<typeof listRoutes>[0] = {
    ...bind(needs, listOperations),
    ...bind(needs, editOperations),
    ...bind({ ...needs, watchAsset: lifecycle.watchAsset }, longPollOperations),
    deleteAsset: trash.deleteAsset,
    restoreAsset: (asset, actorData) =>
      usage.underQuota(asset.owner_user_id, () => trash.restoreAsset(asset, actorData)),
    view: context.view,
  };
  return {
    operations: { emptyTrash: trash.emptyTrash },
    routes: [...listRoutes(library, guards, asOperator), ...assetRoutes(library, guards)],
    jobs: {},
  };
}
