// Lists, reads, edits, deletes and restores assets (contract B2, B3).
import { changeAssets } from '@mediary/contract/operations/batches';
import { deleteAsset, restoreAsset } from '@mediary/contract/operations/deletions';
import {
  releaseLegalHold,
  releaseLegalHoldAsOperator,
  setLegalHold,
  setLegalHoldAsOperator,
} from '@mediary/contract/operations/admin/legal-holds';
import { getAsset, listAssets, updateAsset } from '@mediary/contract/operations/media';
import { revokePlayback } from '@mediary/contract/operations/playback/playback';
import { listAllAssets } from '@mediary/contract/operations/admin/operators';
import type {
  AssetPage as AssetPageView,
  AssetQuery,
  DeleteAssetQuery,
} from '@mediary/contract/schemas/library';
import type { Static } from 'typebox';
import type { Asset, ShownAsset } from '../assets/asset.ts';
import { type Actor, toActorData } from '../assets/asset-event.ts';
import { toCallerView, toEtag, toServiceView } from '../assets/asset-view.ts';
import { parseAccess } from '../assets/access-rules.ts';
import { toChapters } from '../assets/chapters.ts';
import { parseExpiry } from '../assets/expiry.ts';
import { roundFocalPoint } from '../assets/focal-point.ts';
import { parsePlainText } from '../platform/values/plain-text.ts';
import { badRequest, forbidden } from '../platform/http/errors.ts';
import * as batch from './batch.ts';
import { addDetails } from './if-match.ts';
import * as edits from './asset-edits.ts';
import { type AssetPage, listAssetPage } from './asset-list.ts';
import type { LibraryContext } from './context.ts';
import { changeHold, changeHoldById, toHolderData } from './legal-holds.ts';
import { detailsLoader } from './asset-list.ts';
import { waitForChange } from './long-poll.ts';
import * as trash from './trash.ts';

export const listRoutes = (ctx: LibraryContext) => [
  ctx.guards.asReader(listAssets, async ({ actor, query }) =>
    toPageView(await listAssetPage(ctx, actor.ownerUserId, query), (asset) =>
      toCallerView(asset, ctx.view, actor.caller),
    ),
  ),
  ctx.asOperator(listAllAssets, async ({ query: { owner_user_id: named, ...query } }) =>
    toPageView(await listAssetPage(ctx, parsePlainText('owner_user_id', named), query), (asset) =>
      toServiceView(asset, ctx.view),
    ),
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

const toPageView = (
  { items, nextCursor, total }: AssetPage,
  toView: (asset: ShownAsset) => AssetPageView['items'][number],
): AssetPageView => ({
  items: items.map(toView),
  next_cursor: nextCursor,
  ...(total !== undefined && { total }),
});

export const assetRoutes = (ctx: LibraryContext) => [
  ctx.guards.asCreator(changeAssets, ({ actor, body }) => batch.changeAssets(ctx, actor, body), {
    isFinal: batch.isFinalResult,
  }),
  ctx.guards.ownAssetWith(detailsLoader(ctx))(
    getAsset,
    async ({ asset, caller, collections }) => ({
      ...toCallerView(asset, ctx.view, caller),
      ...(collections && { collections }),
    }),
    {
      etag: ({ asset, query, collections = [] }) =>
        addDetails(toEtag(asset, ctx.view), [...collections, ...timesInEtag(ctx, asset, query)]),
      waitForChange: (input, poll) => waitForChange(ctx, input, poll),
    },
  ),
  ctx.guards.changingAsset(updateAsset, async ({ asset, actor, body, headers }) => {
    const { owner_user_id: _, expires_at, focal_point: point, access, chapters, ...others } = body;
    const expiry = expires_at === undefined ? {} : { expires_at: parseExpiry(expires_at, ctx.clocks.now()) };
    const focus = point === undefined ? {} : { focal_point: point && roundFocalPoint(point) };
    const rules = access === undefined ? {} : { access: parseAccess(access) };
    const parts = chapters === undefined ? {} : { chapters: toChapters(chapters) };
    const edited = await edits.editAsset(ctx, asset, {
      edit: { ...others, ...expiry, ...focus, ...rules, ...parts },
      ifMatch: headers['if-match'],
      actorData: toActorData(actor, asset),
    });
    return toCallerView(edited, ctx.view, actor.caller);
  }),
  ctx.guards.changingAsset(revokePlayback, async ({ asset, actor }) =>
    toCallerView(await edits.revokePlayback(ctx, asset, toActorData(actor, asset)), ctx.view, actor.caller),
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
    const restored = await trash.restoreAsset(ctx, asset, toActorData(actor, asset));
    return toCallerView(restored, ctx.view, actor.caller);
  }),
];

/** A long poll does not end because the expected times move. */
function timesInEtag({ view }: LibraryContext, asset: Asset, { wait }: Pick<AssetQuery, 'wait'>): string[] {
  const times = view.expectedTimes.find(asset);
  const isKnown = times.queue_position !== null || times.expected_ready_at !== null;
  return isKnown && wait === undefined ? [JSON.stringify(times)] : [];
}

/** Holds need a scope of their own, so that a key which deletes need not be able to release them. */
export function holdRoutes(ctx: LibraryContext) {
  const byService = async (
    { asset, actor }: { readonly asset: Asset; readonly actor: Actor },
    isHeld: boolean,
  ) => {
    const actorData = toHolderData(actor, asset);
    return toServiceView(await changeHold(ctx, asset, { isHeld, actorData }), ctx.view);
  };
  const byOperator = async (id: string, isHeld: boolean) =>
    toServiceView(await changeHoldById(ctx, id, isHeld), ctx.view);
  return [
    ctx.guards.changingTrash(setLegalHold, (input) => byService(input, true)),
    ctx.guards.changingTrash(releaseLegalHold, (input) => byService(input, false)),
    ctx.asOperator(setLegalHoldAsOperator, ({ params: { id } }) => byOperator(id, true)),
    ctx.asOperator(releaseLegalHoldAsOperator, ({ params: { id } }) => byOperator(id, false)),
  ];
}
