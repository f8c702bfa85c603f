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
import { type AssetViewContext, toAssetView, toEtag } from '../assets/asset-view.ts';
import { parsePlainText } from '../platform/values/plain-text.ts';
import { badRequest, forbidden } from '../platform/http/errors.ts';
import * as edits from './asset-edits.ts';
import { type AssetPage, listAssetPage } from './asset-list.ts';
import type { LibraryContext } from './context.ts';
import { waitForChange } from './long-poll.ts';
import * as trash from './trash.ts';

export const listRoutes = (ctx: LibraryContext) => [
  ctx.guards.asReader(listAssets, async ({ actor, query }) =>
    toPageView(await listAssetPage(ctx, actor.ownerUserId, query), ctx.view),
  ),
  ctx.asOperator(listAllAssets, async ({ query: { owner_user_id: named, ...query } }) =>
    toPageView(await listAssetPage(ctx, parsePlainText('owner_user_id', named), query), ctx.view),
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

export const assetRoutes = (ctx: LibraryContext) => [
  ctx.guards.ownAsset(getAsset, async ({ asset }) => toAssetView(asset, ctx.view), {
    etag: ({ asset }) => toEtag(asset, ctx.view),
    waitForChange: (input, poll) => waitForChange(ctx, input, poll),
  }),
  ctx.guards.changingAsset(updateAsset, async ({ asset, actor, body, headers }) => {
    const { owner_user_id: _, ...edit } = body;
    const actorData = toActorData(actor, asset);
    const edited = await edits.editAsset(ctx, asset, { edit, ifMatch: headers['if-match'], actorData });
    return toAssetView(edited, ctx.view);
  }),
  ctx.guards.changingAsset(revokePlayback, async ({ asset, actor }) =>
    toAssetView(await edits.revokePlayback(ctx, asset, toActorData(actor, asset)), ctx.view),
  ),
  ctx.guards.changingTrash(deleteAsset, ({ asset, actor, query, headers }) =>
    trash.deleteAsset(ctx, asset, {
      isPermanent: isPermanent(query),
      isErasure: isErasure(query, actor),
      ifMatch: headers['if-match'],
      actorData: toActorData(actor, asset),
    }),
  ),
  ctx.guards.changingTrash(restoreAsset, async ({ asset, actor }) => {
    const restored = await ctx.usage.underQuota(asset.owner_user_id, () =>
      trash.restoreAsset(ctx, asset, toActorData(actor, asset)),
    );
    return toAssetView(restored, ctx.view);
  }),
];
