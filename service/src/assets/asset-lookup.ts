// Finds assets for callers, players, jobs and reports; reads under load are batched.
import type { Caller } from '../auth/caller.ts';
import { createBatcher } from '../platform/concurrency/batcher.ts';
import { forbidden, notFound } from '../platform/errors.ts';
import type { Database } from '../platform/postgres/database.ts';
import { isUuid } from '../platform/uuid.ts';
import type { Asset, AssetRef, PlayedAsset, VideoRef } from './asset.ts';
import { findAssets, findByVideos, findPlayedAssets } from './asset-lookup.sql.ts';

export type AssetLoader = {
  /** A UUID, in either case. */
  readonly find: (id: string) => Promise<Asset | undefined>;
  /** The asset that a report names. */
  readonly findReported: (ref: AssetRef) => Promise<Asset | undefined>;
  /** The columns that players need. */
  readonly findPlayed: (id: string) => Promise<PlayedAsset | undefined>;
};

/** Two at once keep the database busy while this process reads an answer; a batch stays small enough to fail fast. */
const LIMITS = { concurrency: 2, maxItems: 100 };

export function createAssetLoader(db: Database): AssetLoader {
  const find = createBatcher((ids: readonly string[]) => findAssets(db, ids), LIMITS);
  const findPlayed = createBatcher((ids: readonly string[]) => findPlayedAssets(db, ids), LIMITS);
  const findByVideo = createBatcher((videos: readonly VideoRef[]) => findByVideos(db, videos), LIMITS);
  return {
    find: (id) => find(id.toLowerCase()),
    findReported: (ref) => ('assetId' in ref ? find(ref.assetId.toLowerCase()) : findByVideo(ref)),
    findPlayed: (id) => findPlayed(id.toLowerCase()),
  };
}

type AssetNeeds = Pick<AssetLoader, 'find'>;

/** For callers: NOT_FOUND where there is none, FORBIDDEN where it is another user's; a service passes. */
export const findAssetForCaller = async (needs: AssetNeeds, caller: Caller, id: string): Promise<Asset> =>
  assertAccess(caller, await findAssetById(needs, id), (asset) => !asset.deleted_at);

/** The same, of one that can be restored too. */
export const findTrashedAssetForCaller = async (
  needs: AssetNeeds,
  caller: Caller,
  id: string,
): Promise<Asset> =>
  assertAccess(
    caller,
    await findAssetById(needs, id),
    (asset) => !asset.deleted_at || asset.purge_at !== null,
  );

/** Existence first: whose an asset was is not told of one that is gone. */
function assertAccess(caller: Caller, asset: Asset | undefined, isThere: (asset: Asset) => boolean): Asset {
  if (!asset || !isThere(asset)) throw notFound('No such asset');
  if (caller.kind === 'user' && caller.userId !== asset.owner_user_id)
    throw forbidden("The asset is another user's");
  return asset;
}

/** For jobs and verified reports: whoever it belongs to, a tombstone too. */
export const findAssetById = async ({ find }: AssetNeeds, id: string): Promise<Asset | undefined> =>
  isUuid(id) ? find(id) : undefined;

/** For players: whoever it belongs to, a tombstone too, with the columns that they need. */
export const findPlayedAsset = async (
  { findPlayed }: Pick<AssetLoader, 'findPlayed'>,
  id: string,
): Promise<PlayedAsset | undefined> => (isUuid(id) ? findPlayed(id) : undefined);
