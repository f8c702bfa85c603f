// Hands the original back under its own name, by a signed URL that lives for an hour (contract B5).
import type { Asset } from '../assets/asset.ts';
import { issueTicket, isValidTicket, ticketReason } from '../auth/asset-ticket.ts';
import type { Secret } from '../auth/secret.ts';
import { notFound, unauthorized } from '../platform/errors.ts';

export type DownloadNeeds = {
  readonly findAssetById: (id: string) => Promise<Asset | undefined>;
  /** Whether a hosted provider has the file, and can be asked for it. */
  readonly canAsk: (asset: Asset) => boolean;
  readonly downloadOf: (asset: Asset, expires: number) => Promise<string>;
  readonly urlSecrets: readonly Secret[];
  readonly publicBaseUrl: () => string;
  readonly now: () => Date;
  readonly limitOwner: (ownerUserId: string) => Promise<void>;
};

const TTL_SECONDS = 3600;

export async function createDownloadUrl(
  needs: DownloadNeeds,
  asset: Asset,
): Promise<{ url: string; expires_at: string; filename: string }> {
  const expires = Math.floor(needs.now().getTime() / 1000) + TTL_SECONDS;
  const url = needs.canAsk(asset) ? await needs.downloadOf(asset, expires) : ownUrl(needs, asset, expires);
  return { url, expires_at: new Date(expires * 1000).toISOString(), filename: asset.filename };
}

function ownUrl({ urlSecrets, publicBaseUrl }: DownloadNeeds, asset: Asset, expires: number): string {
  requireBytes(asset);
  const ticket = issueTicket(urlSecrets, 'download', {
    assetId: asset.id,
    expires,
    playbackVersion: asset.playback_version,
  });
  return `${publicBaseUrl()}/api/v1/downloads/${asset.id}?ticket=${ticket}`;
}

/** The asset whose original a ticket opens; a ticket from before a deletion stays invalid after a restore. */
export async function findDownload(
  { findAssetById: byId, urlSecrets, now, limitOwner }: DownloadNeeds,
  assetId: string,
  ticket: string,
): Promise<Asset> {
  const presented = { assetId, ticket, now: now().getTime() / 1000 };
  const invalidUrl = () =>
    unauthorized(
      'The download URL is invalid or has expired. Request a new one from GET /api/v1/media/{id}/download-url.',
      {
        reason: ticketReason(urlSecrets, { purpose: 'download', token: ticket, now: presented.now }),
      },
    );
  if (!isValidTicket(urlSecrets, 'download', presented)) throw invalidUrl();
  const asset = await byId(assetId);
  if (!asset || asset.deleted_at) throw notFound('No such asset');
  if (!isValidTicket(urlSecrets, 'download', { ...presented, playbackVersion: asset.playback_version }))
    throw invalidUrl();
  requireBytes(asset);
  await limitOwner(asset.owner_user_id);
  return asset;
}

function requireBytes(asset: Asset): void {
  if (!asset.uploaded_at || asset.refused)
    throw notFound('The bytes of this asset are not stored here', { reason: 'not_uploaded' });
}
