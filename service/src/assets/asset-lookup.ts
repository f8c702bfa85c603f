// The doors to an asset for callers, and for jobs and verified reports.
import type { Caller } from '../auth/caller.ts';
import { forbidden, notFound } from '../platform/errors.ts';
import { isUuid } from '../platform/uuid.ts';
import type { Asset, PlayedAsset } from './asset.ts';
import type { AssetLoader } from './asset-loader.ts';

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
