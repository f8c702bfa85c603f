// Creates tus uploads at hosted providers that need the length first: our URL takes the creation alone, and
// the bytes go to the provider (contract B4).
import type { UploadTarget } from '@mediary/contract/schemas/upload-targets';
import type { Asset } from '../../assets/asset.ts';
import { issueTicket, isValidTicket, ticketReason } from '../../auth/tickets/asset-ticket.ts';
import { badRequest, notFound, unauthorized } from '../../platform/http/errors.ts';
import type { TusRelay } from '../../providers/provider.ts';
import type { UploadsContext } from '../context.ts';
import { findByteLimit } from '../original/byte-limit.ts';
import { assertLength } from '../original/upload-errors.ts';
import { authorizeUpload } from '../put/byte-uploads.ts';
import type { OpenedUpload } from '../upload-targets.ts';
import { parseCreation } from './tus-headers.ts';
import { answerTus, type TusRequest, type TusResponse } from './tus-requests.ts';

const findRelay = (
  { providers }: UploadsContext,
  { provider }: Pick<Asset, 'provider'>,
): TusRelay | undefined => (provider === null ? undefined : providers.registry.get(provider)?.api?.tusRelay);

/** Adds a tus target for files of unknown size, where the provider's own target limits them. */
export async function openHostedUpload(ctx: UploadsContext, asset: Asset): Promise<OpenedUpload> {
  const opened = await ctx.providers.prepareUpload(asset);
  const relay = findRelay(ctx, asset);
  if (!relay || asset.announced_size_bytes !== null) return opened;
  return { ...opened, alternatives: [...(opened.alternatives ?? []), toTarget(ctx, opened.asset, relay)] };
}

function toTarget(
  { settings: { urlSecrets, publicBaseUrl, maxUploadBytes }, clocks }: UploadsContext,
  { id, attempt, upload_expires_at }: Asset,
  { chunks }: TusRelay,
): UploadTarget {
  const expiresAt = upload_expires_at ?? clocks.now();
  const expires = Math.floor(expiresAt.getTime() / 1000);
  const ticket = issueTicket(urlSecrets, 'relay', { assetId: id, expires, attempt });
  return {
    protocol: 'tus',
    method: 'POST',
    url: `${publicBaseUrl()}/api/v1/uploads/${id}/tus?ticket=${ticket}`,
    headers: {},
    fields: {},
    ...chunks,
    expires_at: expiresAt.toISOString(),
    max_bytes: maxUploadBytes,
  };
}

type Authorization = Parameters<typeof authorizeUpload>[1];

/** A ticket of a relay opens one asset's creation; every other ticket belongs to our store. */
export async function authorizeTus(ctx: UploadsContext, request: Authorization): Promise<Asset> {
  const { urlSecrets } = ctx.settings;
  const { assetId, ticket, uploadId } = request;
  const presented = { assetId, ticket, now: ctx.clocks.now().getTime() / 1000 };
  if (!isValidTicket(urlSecrets, 'relay', presented)) {
    if (ticketReason(urlSecrets, { ...presented, purpose: 'relay', token: ticket }) === 'expired')
      throw unauthorized('The upload URL has expired', { reason: 'expired' });
    return authorizeUpload(ctx, request);
  }
  const asset = await ctx.lifecycle.findAssetById(assetId);
  if (!asset || asset.deleted_at || uploadId !== undefined) throw notFound('No such asset or upload');
  // A retry opened another upload, which has its own URL.
  if (!isValidTicket(urlSecrets, 'relay', { ...presented, attempt: asset.attempt }))
    throw unauthorized('The upload URL belongs to an earlier attempt', { reason: 'invalid_credential' });
  await ctx.admission.limitOwner(asset.owner_user_id);
  return asset;
}

export async function answerTusOrRelay(ctx: UploadsContext, request: TusRequest): Promise<TusResponse> {
  if (findRelay(ctx, request.asset))
    return request.method === 'OPTIONS' ? describeRelay(ctx) : relayCreation(ctx, request);
  if (!ctx.store.partial) throw notFound('This service takes no resumable uploads');
  return answerTus(ctx, request);
}

const describeRelay = ({ settings }: UploadsContext): TusResponse => ({
  status: 204,
  headers: {
    'tus-version': '1.0.0',
    'tus-extension': 'creation',
    'tus-max-size': String(settings.maxUploadBytes),
  },
});

async function relayCreation(
  ctx: UploadsContext,
  { asset, headers, body }: TusRequest,
): Promise<TusResponse> {
  const sizeBytes = parseLength(headers);
  if ((body.length ?? 0) > 0 || headers['transfer-encoding'] !== undefined)
    throw badRequest('Send the creation without a body, and the bytes to the URL in its Location.', {
      field: 'body',
    });
  assertLength(asset, sizeBytes, ctx.settings.maxUploadBytes);
  await findByteLimit(ctx, asset, { length: sizeBytes });
  const { url } = await ctx.providers.createTusUpload(asset, sizeBytes);
  return { status: 201, headers: { location: url } };
}

/** Returns the length of the upload. */
function parseLength(headers: TusRequest['headers']): number {
  for (const field of ['Upload-Defer-Length', 'Upload-Concat'])
    if (headers[field.toLowerCase()] !== undefined)
      throw badRequest(`${field} is not supported: the video provider needs the length of the whole file`, {
        field,
      });
  const { sizeBytes } = parseCreation(headers);
  if (sizeBytes === undefined) throw new Error('a creation without Upload-Length was not refused');
  return sizeBytes;
}
