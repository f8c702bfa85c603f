// Makes assets and finds them: two of the three doors to an asset are here.
import type { Caller } from '../auth/caller.ts';
import { conflict, forbidden, notFound } from '../platform/errors.ts';
import { findViolatedConstraint } from '../platform/postgres/database-errors.ts';
import { isUuid } from '../platform/uuid.ts';
import type { Asset, NewAsset } from '../assets/asset.ts';
import type { AssetBatches } from './asset-loader.ts';
import { type EventData, newEvent } from '../assets/asset-event.ts';

export type AssetNeeds = Pick<AssetBatches, 'find' | 'insert'>;

/** A new asset and its first event, or the one that an earlier try of the same request made; CONFLICT where the provider's video is another asset's. */
export async function createAsset(
  { insert, find }: AssetNeeds,
  asset: NewAsset,
  note: EventData,
): Promise<Asset> {
  try {
    const made = (await insert({ asset, event: newEvent('asset.created', note) })) ?? (await find(asset.id));
    if (!made) throw new Error('an asset was neither made nor there');
    return made;
  } catch (error) {
    if (findViolatedConstraint(error)?.startsWith('assets_provider_video'))
      throw conflict('Another asset is linked to this video', { field: 'provider_video_id' });
    throw error;
  }
}

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
