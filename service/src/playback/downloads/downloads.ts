// Creates signed download URLs of originals, which are valid for an hour, and verifies our own (contract B5).
import type { DownloadUrl } from '@mediary/contract/schemas/playback';
import { allowsDownloads, hasViewerRules } from '../../assets/access-rules.ts';
import type { Asset } from '../../assets/asset.ts';
import { isExpired, limitSeconds } from '../../assets/expiry.ts';
import type { Caller } from '../../auth/caller.ts';
import { issueTicket, isValidTicket, ticketReason } from '../../auth/tickets/asset-ticket.ts';
import { notFound, unauthorized } from '../../platform/http/errors.ts';
import { attachment } from '../../platform/http/headers.ts';
import type { ProviderDownload } from '../../providers/provider.ts';
import { originalKey } from '../../storage/object-key.ts';
import type { PlaybackContext } from '../context.ts';
import { assertViewerAllowed } from '../viewer-access.ts';
import { downloadsForbidden } from './download-name.ts';

const TTL_SECONDS = 3600;

/** `expiresAt` is undefined when it is the requested time. */
type SignedDownload = ProviderDownload & { readonly expiresAt?: Date };

export async function createDownloadUrl(
  ctx: PlaybackContext,
  asset: Asset,
  caller: Caller,
): Promise<DownloadUrl> {
  const isForService = caller.kind === 'service';
  if (!isForService && !allowsDownloads(asset)) throw downloadsForbidden();
  const now = ctx.now();
  const isOver = isExpired(asset, now);
  if (isOver && !asset.legal_hold) throw notFound('The asset has expired');
  const expires =
    Math.floor(now.getTime() / 1000) + (isOver ? TTL_SECONDS : limitSeconds(TTL_SECONDS, asset, now));
  const download: SignedDownload = ctx.providers.canInspect(asset)
    ? await ctx.providers.createProviderDownload(asset, expires)
    : await createStoredDownload(ctx, asset, { expires, isForService });
  const { state, expiresAt = new Date(expires * 1000) } = download;
  const { filename } = asset;
  return download.state === 'preparing'
    ? { url: null, state, expires_at: null, filename, retry_after_s: download.retryAfterSeconds }
    : { url: download.url, state, expires_at: expiresAt.toISOString(), filename, retry_after_s: null };
}

/** `expires`: in seconds since 1970. `isForService`: a service key asks, for which no access rules hold. */
type DownloadRequest = { readonly expires: number; readonly isForService: boolean };

/** A URL of the store itself, where clients reach it. */
async function createStoredDownload(
  ctx: PlaybackContext,
  asset: Asset,
  request: DownloadRequest,
): Promise<SignedDownload> {
  assertStored(asset);
  const { expires, isForService } = request;
  const { direct } = ctx.store;
  // The store cannot hold rules for viewers.
  if (!direct || (!isForService && hasViewerRules(asset.access)))
    return { state: 'ready', url: createOwnUrl(ctx, asset, request) };
  const { url, expiresAt } = await direct.presignGet({
    key: originalKey(asset),
    responseContentDisposition: attachment(asset.filename),
    responseContentType: asset.mime_type,
    expiresInSeconds: Math.max(1, expires - Math.floor(ctx.now().getTime() / 1000)),
  });
  return { state: 'ready', url, expiresAt };
}

function createOwnUrl(
  { settings: { urlSecrets, publicBaseUrl } }: PlaybackContext,
  asset: Asset,
  { expires, isForService }: DownloadRequest,
): string {
  const ticket = issueTicket(urlSecrets, 'download', {
    assetId: asset.id,
    expires,
    playbackVersion: asset.playback_version,
    isForService,
  });
  return `${publicBaseUrl()}/api/v1/downloads/${asset.id}?ticket=${ticket}`;
}

type DownloadExchange = Parameters<typeof assertViewerAllowed>[2] & { readonly ticket: string };

/**
 * Finds the asset of a download URL. A URL that was issued before a deletion stays invalid after a restore.
 */
export async function getDownload(
  ctx: PlaybackContext,
  assetId: string,
  { ticket, ...viewer }: DownloadExchange,
): Promise<Asset> {
  const {
    settings: { urlSecrets },
    now,
    limitOwner,
  } = ctx;
  const presented = { assetId, ticket, now: now().getTime() / 1000 };
  const invalidUrl = () =>
    unauthorized(
      'The download URL is invalid or has expired. ' +
        'Request a new one from GET /api/v1/media/{id}/download-url.',
      {
        reason: ticketReason(urlSecrets, { purpose: 'download', token: ticket, now: presented.now }),
      },
    );
  if (!isValidTicket(urlSecrets, 'download', presented)) throw invalidUrl();
  const asset = await ctx.lifecycle.findAssetById(assetId);
  if (!asset || asset.deleted_at) throw notFound('No such asset');
  if (isExpired(asset, now()) && !asset.legal_hold) throw notFound('The asset has expired');
  if (!isValidTicket(urlSecrets, 'download', { ...presented, playbackVersion: asset.playback_version }))
    throw invalidUrl();
  if (asset.access && !isValidTicket(urlSecrets, 'download', { ...presented, isForService: true })) {
    assertViewerAllowed(ctx.settings, asset, viewer);
    if (!allowsDownloads(asset)) throw downloadsForbidden();
  }
  assertStored(asset);
  await limitOwner(asset.owner_user_id);
  return asset;
}

function assertStored(asset: Asset): void {
  if (!asset.uploaded_at || asset.refused)
    throw notFound('The bytes of this asset are not stored here', { reason: 'not_uploaded' });
}
