// Opens an asset for its bytes: upload-url makes the row, and says where and how to send them (contract B4).
import type { Asset } from '../assets/asset.ts';
import { type Actor, toActorData } from '../assets/actor.ts';
import { issueTicket } from '../auth/asset-ticket.ts';
import type { Secret } from '../auth/secret.ts';
import type { AssetStore } from '../lifecycle/store.ts';
import { firstUploadCheckAt } from '../lifecycle/reconcile-schedule.ts';
import type { UploadTarget } from '../providers/provider.ts';
import { timeOf } from '../platform/uuid.ts';
import { uuidV7 } from '../platform/uuid-v7.ts';
import { type UploadLimits, type UploadRequest, toNewAsset } from './upload-request.ts';

export type UploadNeeds = {
  readonly createAsset: AssetStore['createAsset'];
  /** Applies what a provider reported of its video before this asset was linked to it. */
  readonly applyParked: (asset: Asset) => Promise<Asset>;
  /** Has a hosted provider take the bytes itself. */
  readonly prepareUpload: (asset: Asset) => Promise<OpenedUpload>;
  readonly urlSecrets: readonly Secret[];
  readonly limits: UploadLimits;
  readonly publicBaseUrl: () => string;
  readonly now: () => Date;
};

/** Where the bytes go: one way to send them, and others that do as well. */
export type OpenedUpload = {
  readonly asset: Asset;
  readonly target: UploadTarget | null;
  readonly alternatives?: readonly UploadTarget[];
};

/** `madeId`: the asset's id, where the request is one that may be repeated. */
export type CreateUpload = {
  readonly actor: Actor;
  readonly wishes: UploadRequest;
  readonly madeId: string | undefined;
};

/** A new asset, and where its bytes go; no target for a video that is at its provider already. */
export async function createUpload(
  needs: UploadNeeds,
  { actor, wishes, madeId }: CreateUpload,
): Promise<OpenedUpload> {
  const id = madeId ?? uuidV7(needs.now().getTime());
  const now = timeOf(id);
  const wished = toNewAsset(wishes, { isService: actor.caller.kind === 'service', limits: needs.limits });
  const expires =
    wished.provider_video_id === null ? new Date(now.getTime() + needs.limits.uploadTtlSeconds * 1000) : null;
  const isHosted = wished.provider !== null && needs.limits.hostedProviders.includes(wished.provider);
  const created = {
    ...wished,
    id,
    owner_user_id: actor.ownerUserId,
    upload_expires_at: expires,
    reconcile_at: isHosted ? firstUploadCheckAt(now) : null,
    created_at: now,
  };
  const asset = await needs.createAsset(created, toActorData(actor, created));
  if (!expires) return { asset: await needs.applyParked(asset), target: null };
  return isHosted ? needs.prepareUpload(asset) : { asset, target: targetOf(needs, asset, expires) };
}

/** Where the bytes of an asset that waits for them go; a hosted provider takes up the video of an earlier call. */
export const offerUpload = async (needs: UploadNeeds, asset: Asset): Promise<OpenedUpload> =>
  asset.provider !== null && needs.limits.hostedProviders.includes(asset.provider)
    ? needs.prepareUpload(asset)
    : { asset, target: targetOf(needs, asset, asset.upload_expires_at ?? needs.now()) };

function targetOf(
  { urlSecrets, publicBaseUrl, limits }: UploadNeeds,
  asset: Asset,
  expires: Date,
): UploadTarget {
  const ticket = issueTicket(urlSecrets, 'upload', {
    assetId: asset.id,
    expires: Math.floor(expires.getTime() / 1000),
    attempt: asset.attempt,
  });
  return {
    protocol: 'put',
    method: 'PUT',
    url: `${publicBaseUrl()}/api/v1/uploads/${asset.id}?ticket=${ticket}`,
    headers: { 'Content-Type': asset.mime_type },
    expires_at: expires.toISOString(),
    max_bytes: asset.announced_size_bytes ?? limits.maxUploadBytes,
  };
}
