// Creates assets within the quota of their owner.
import type { Asset, NewAsset } from '../assets/asset.ts';
import type { AssetStore } from '../lifecycle/store.ts';
import { uuidV7 } from '../platform/values/uuid-v7.ts';
import { timeOf } from '../platform/values/uuid.ts';
import type { UploadsContext } from './context.ts';
import type { NewUpload } from './upload-request.ts';

type CreateAsset = Parameters<AssetStore['createAsset']>;

/** `resourceId`: the id for the new asset if the request carries an Idempotency-Key. */
type NewAssetRef = { readonly ownerUserId: string; readonly resourceId?: string | undefined };

/** The row of an asset whose upload is open. No provider is asked before it has a video. */
export function toOpenAsset(
  { clocks, settings }: UploadsContext,
  upload: NewUpload,
  { ownerUserId, resourceId }: NewAssetRef,
) {
  const id = resourceId ?? uuidV7(clocks.now().getTime());
  const now = timeOf(id);
  return {
    ...upload,
    id,
    owner_user_id: ownerUserId,
    upload_expires_at: new Date(now.getTime() + settings.newAssets.uploadTtlSeconds * 1000),
    reconcile_at: null,
    clip_of: null,
    created_at: now,
  } satisfies NewAsset;
}

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
