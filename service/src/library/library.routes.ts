// Lists, reads, edits, deletes and restores assets (contract B2, B3).
import {
  deleteAsset,
  getAsset,
  listAssets,
  restoreAsset,
  updateAsset,
} from '@mediary/contract/operations/media';
import { revokePlayback } from '@mediary/contract/operations/playback';
import { listAllAssets } from '@mediary/contract/operations/operators';
import type { AssetPage as AssetPageView, DeleteAssetQuery } from '@mediary/contract/schemas/library';
import type { Static } from 'typebox';
import { type Actor, toActorData } from '../assets/asset-event.ts';
import type { Guards } from '../assets/asset-guards.hook.ts';
import { type AssetViewContext, toAssetView, toEtag } from '../assets/asset-view.ts';
import { parsePlainText } from '../platform/plain-text.ts';
import type { Bound } from '../platform/bind.ts';
import { badRequest, forbidden } from '../platform/errors.ts';
import type { AsOperator } from '../platform/http/route.ts';
import type * as edits from './asset-edits.ts';
import type { AssetPage, listAssetPage } from './asset-list.ts';
import type { waitForChange } from './long-poll.ts';
import type * as trash from './trash.ts';

type Library = {
  readonly listAssetPage: Bound<typeof listAssetPage>;
  readonly editAsset: Bound<typeof edits.editAsset>;
  readonly revokePlayback: Bound<typeof edits.revokePlayback>;
  readonly deleteAsset: Bound<typeof trash.deleteAsset>;
  readonly restoreAsset: Bound<typeof trash.restoreAsset>;
  readonly waitForChange: Bound<typeof waitForChange>;
  readonly view: AssetViewContext;
};

export const listRoutes = (
  { listAssetPage: list, view }: Library,
  { asReader }: Guards,
  asOperator: AsOperator,
) => [
  asReader(listAssets, async ({ actor, query }) => toPageView(await list(actor.ownerUserId, query), view)),
  asOperator(listAllAssets, async ({ query: { owner_user_id: named, ...query } }) =>
    toPageView(await list(parsePlainText('owner_user_id', named), query), view),
  ),
];

function isPermanent({ trash, purge }: Static<typeof DeleteAssetQuery>): boolean {
  if (trash !== undefined && purge === trash)
    throw badRequest('purge is the opposite of trash: send one of them.', { field: 'purge' });
  return !(trash ?? purge === false);
}

function isErasure(
  { erase = false, trash, purge }: Static<typeof DeleteAssetQuery>,
  { caller }: Actor,
): boolean {
  if (erase && (trash === true || purge === false))
    throw badRequest('An asset is either erased or moved to the trash: send one of them.', {
      field: 'erase',
    });
  if (erase && caller.kind !== 'service')
    throw forbidden('Erasing an asset needs the service key: "X-Service-Key: <key>"');
  return erase;
}

const toPageView = ({ items, nextCursor, total }: AssetPage, view: AssetViewContext): AssetPageView => ({
  items: items.map((asset) => toAssetView(asset, view)),
  next_cursor: nextCursor,
  ...(total !== undefined && { total }),
});

export const assetRoutes = (library: Library, { ownAsset, changingAsset, changingTrash }: Guards) => [
  ownAsset(getAsset, async ({ asset }) => toAssetView(asset, library.view), {
    etag: ({ asset }) => toEtag(asset, library.view),
    waitForChange: library.waitForChange,
  }),
  changingAsset(updateAsset, async ({ asset, actor, body, headers }) => {
    const { owner_user_id: _, ...edit } = body;
    const actorData = toActorData(actor, asset);
    const edited = await library.editAsset(asset, { edit, ifMatch: headers['if-match'], actorData });
    return toAssetView(edited, library.view);
  }),
  changingAsset(revokePlayback, async ({ asset, actor }) =>
    toAssetView(await library.revokePlayback(asset, toActorData(actor, asset)), library.view),
  ),
  changingTrash(deleteAsset, ({ asset, actor, query, headers }) =>
    library.deleteAsset(asset, {
      isPermanent: isPermanent(query),
      isErasure: isErasure(query, actor),
      ifMatch: headers['if-match'],
      actorData: toActorData(actor, asset),
    }),
  ),
  changingTrash(restoreAsset, async ({ asset, actor }) =>
    toAssetView(await library.restoreAsset(asset, toActorData(actor, asset)), library.view),
  ),
];
