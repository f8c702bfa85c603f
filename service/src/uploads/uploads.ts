// Opens an asset for its bytes: upload-url makes the row, and says where and how to send them (contract B4).
import type { Asset } from '../assets/asset.ts';
import type { EventData } from '../assets/asset-event.ts';
import { type Actor, noteOf } from '../assets/actor.ts';
import { issueTicket } from '../auth/asset-ticket.ts';
import type { Secret } from '../auth/secret.ts';
import type { create } from '../assets/assets.ts';
import { timeOf } from '../platform/uuid.ts';
import { uuidV7 } from '../platform/uuid-v7.ts';
import { type UploadLimits, type UploadWishes, wishesToAsset } from './upload-wishes.ts';

export type UploadNeeds = {
  readonly create: (asset: Parameters<typeof create>[1], note: EventData) => Promise<Asset>;
  /** Applies what a provider reported of its video before this asset was linked to it. */
  readonly applyParked: (asset: Asset) => Promise<Asset>;
  readonly urlSecrets: readonly Secret[];
  readonly limits: UploadLimits;
  readonly publicBaseUrl: () => string;
  readonly now: () => Date;
};

/** How the bytes are to be sent. */
export type UploadTarget = {
  readonly protocol: 'put'; readonly method: 'PUT'; readonly url: string; readonly headers: Readonly<Record<string, string>>;
  readonly expires_at: string; readonly max_bytes: number;
};

/** `madeId`: the asset's id, where the request is one that may be repeated. */
export type UploadRequest = { readonly actor: Actor; readonly wishes: UploadWishes; readonly madeId: string | undefined };

/** A new asset, and where its bytes go; no target for a video that is at its provider already. */
export async function start(needs: UploadNeeds, { actor, wishes, madeId }: UploadRequest): Promise<{ asset: Asset; target: UploadTarget | null }> {
  const id = madeId ?? uuidV7(needs.now().getTime());
  const now = timeOf(id);
  const wished = wishesToAsset(wishes, { isService: actor.caller.kind === 'service', limits: needs.limits });
  const expires = wished.provider_video_id === null ? new Date(now.getTime() + needs.limits.uploadTtlSeconds * 1000) : null;
  const created = { ...wished, id, owner_user_id: actor.ownerUserId, upload_expires_at: expires, created_at: now };
  const asset = await needs.create(created, noteOf(actor, created));
  return expires ? { asset, target: targetOf(needs, asset, expires) } : { asset: await needs.applyParked(asset), target: null };
}

function targetOf({ urlSecrets, publicBaseUrl, limits }: UploadNeeds, asset: Asset, expires: Date): UploadTarget {
  const ticket = issueTicket(urlSecrets, 'upload', { assetId: asset.id, expires: Math.floor(expires.getTime() / 1000) });
  return {
    protocol: 'put', method: 'PUT', url: `${publicBaseUrl()}/api/v1/uploads/${asset.id}?ticket=${ticket}`, headers: { 'Content-Type': asset.mime_type },
    expires_at: expires.toISOString(), max_bytes: asset.announced_size_bytes ?? limits.maxUploadBytes,
  };
}
