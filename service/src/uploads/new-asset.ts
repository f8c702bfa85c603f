// Creates assets within the quota of their owner.
import type { Asset } from '../assets/asset.ts';
import type { AssetStore } from '../lifecycle/store.ts';
import type { UploadsContext } from './context.ts';

type CreateAsset = Parameters<AssetStore['createAsset']>;

/** Throws QUOTA_EXCEEDED, CONFLICT if another asset has the video, and UNAVAILABLE on a full disk. */
export async function createAsset(
  { admission, usage, lifecycle }: UploadsContext,
  asset: CreateAsset[0],
  { data, alongside }: { readonly data: CreateAsset[1] } & NonNullable<CreateAsset[2]>,
): Promise<Asset> {
  await admission.requireDatabaseSpace();
  return usage.underQuota(asset.owner_user_id, () =>
    lifecycle.assetStore.createAsset(asset, data, alongside && { alongside }),
  );
}
