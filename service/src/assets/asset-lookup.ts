// Finds assets for callers, players, jobs and reports; reads under load are batched.
import type { Caller } from '../auth/caller.ts';
import { assertOwnerAllowed } from '../auth/permissions.ts';
import { createBatcher, STATEMENT_LIMITS } from '../platform/concurrency/batcher.ts';
import { forbidden, notFound } from '../platform/http/errors.ts';
import type { Database } from '../platform/postgres/database.ts';
import { isUuid } from '../platform/values/uuid.ts';
import type { Asset, AssetRef, PlaybackAsset, VideoRef } from './asset.ts';
import { findAssets, findByVideos, findPlaybackAssets } from './asset-lookup.sql.ts';

export type AssetLoader = {
  /** A UUID, in either case. */
  readonly find: (id: string) => Promise<Asset | undefined>;
  /** The asset of a report. */
  readonly findReported: (ref: AssetRef) => Promise<Asset | undefined>;
  /** The columns that players need. */
  readonly findForPlayback: (id: string) => Promise<PlaybackAsset | undefined>;
};

export function createAssetLoader(db: Database): AssetLoader {
  const find = createBatcher((ids: readonly string[]) => findAssets(db, ids), STATEMENT_LIMITS);
  const findForPlayback = createBatcher(
    (ids: readonly string[]) => findPlaybackAssets(db, ids),
    STATEMENT_LIMITS,
  );
  const findByVideo = createBatcher(
    (videos: readonly VideoRef[]) => findByVideos(db, videos),
    STATEMENT_LIMITS,
  );
  return {
    find: (id) => find(id.toLowerCase()),
    findReported: (ref) => ('assetId' in ref ? find(ref.assetId.toLowerCase()) : findByVideo(ref)),
    findForPlayback: (id) => findForPlayback(id.toLowerCase()),
  };
}

type LoaderContext = { readonly loader: Pick<AssetLoader, 'find'> };

/**
 * For callers: NOT_FOUND if there is no such asset, FORBIDDEN for another user's. Service callers may access
 * all assets, or those of the owners that their key allows.
 */
export const findAssetForCaller = async (ctx: LoaderContext, caller: Caller, id: string): Promise<Asset> =>
  assertAccess(caller, await findAssetById(ctx, id), (asset) => !asset.deleted_at);

/** Also finds assets in the trash, which can be restored. */
export const findTrashedAssetForCaller = async (
  ctx: LoaderContext,
  caller: Caller,
  id: string,
): Promise<Asset> =>
  assertAccess(caller, await findAssetById(ctx, id), (asset) => !asset.deleted_at || asset.purge_at !== null);

/** Also finds purged assets, whose objects may wait for their removal. */
export const findErasableAssetForCaller = async (
  ctx: LoaderContext,
  caller: Caller,
  id: string,
): Promise<Asset> => assertAccess(caller, await findAssetById(ctx, id), () => true);

/** Checks existence first, so that the response does not reveal the owner of a deleted asset. */
function assertAccess(caller: Caller, asset: Asset | undefined, exists: (asset: Asset) => boolean): Asset {
  if (!asset || !exists(asset)) throw notFound('No such asset');
  if (caller.kind === 'user' && caller.userId !== asset.owner_user_id)
    throw forbidden('You do not own this asset');
  assertOwnerAllowed(caller, asset.owner_user_id);
  return asset;
}

/** For jobs and verified reports: assets of any owner, also deleted ones. */
export const findAssetById = async ({ loader }: LoaderContext, id: string): Promise<Asset | undefined> =>
  isUuid(id) ? loader.find(id) : undefined;

type PlaybackContext = { readonly playbackAssets: Pick<AssetLoader, 'findForPlayback'> };

/** For players: assets of any owner, also deleted ones, with the columns that players need. */
export const findPlaybackAsset = async (
  { playbackAssets }: PlaybackContext,
  id: string,
): Promise<PlaybackAsset | undefined> => (isUuid(id) ? playbackAssets.findForPlayback(id) : undefined);
