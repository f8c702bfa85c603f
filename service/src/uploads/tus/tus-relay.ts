// Creates tus uploads at hosted providers that need the length first: our URL takes the creation alone, and
// the bytes go to the provider (contract B4).
import type { UploadTarget } from '@mediary/contract/schemas/upload-targets';
import type { Asset } from '../../assets/asset.ts';
import { isValidTicket, issueTicket, ticketReason } from '../../auth/tickets/asset-ticket.ts';
import type { Bound } from '../../platform/bind.ts';
import { badRequest, notFound, unauthorized } from '../../platform/http/errors.ts';
import type { prepareUpload } from '../../providers/hosted-videos.ts';
import type { Providers, TusRelay } from '../../providers/provider.ts';
import type { createTusUpload } from '../../providers/sized-uploads.ts';
import type { authorizeUpload, TicketNeeds } from '../put/byte-uploads.ts';
import type { findByteLimit } from '../original/store-original.ts';
import type { answerTus, TusRequest, TusResponse } from './tus-requests.ts';
import { assertLength } from '../original/upload-errors.ts';
import type { OpenedUpload } from '../uploads.ts';

type RelayNeeds = TicketNeeds & {
  readonly providers: Providers;
  readonly prepareUpload: Bound<typeof prepareUpload>;
  readonly createTusUpload: Bound<typeof createTusUpload>;
  readonly findByteLimit: Bound<typeof findByteLimit>;
  readonly authorizeUpload: Bound<typeof authorizeUpload>;
  /** Undefined if the store takes no resumable uploads. */
  readonly answerTus: Bound<typeof answerTus> | undefined;
  readonly maxUploadBytes: number;
  readonly publicBaseUrl: () => string;
};

const findRelay = (
  { providers }: Pick<RelayNeeds, 'providers'>,
  { provider }: Pick<Asset, 'provider'>,
): TusRelay | undefined => (provider === null ? undefined : providers.get(provider)?.api?.tusRelay);

/** Adds a tus target for files of unknown size, where the provider's own target limits them. */
export async function prepareHostedUpload(needs: RelayNeeds, asset: Asset): Promise<OpenedUpload> {
  const opened = await needs.prepareUpload(asset);
  const relay = findRelay(needs, asset);
  if (!relay || asset.announced_size_bytes !== null) return opened;
  return { ...opened, alternatives: [...(opened.alternatives ?? []), toTarget(needs, opened.asset, relay)] };
}

function toTarget(
  { urlSecrets, publicBaseUrl, maxUploadBytes, now }: RelayNeeds,
  { id, attempt, upload_expires_at }: Asset,
  { chunks }: TusRelay,
): UploadTarget {
  const expiresAt = upload_expires_at ?? now();
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

type Authorization = Parameters<Bound<typeof authorizeUpload>>[0];

/** A ticket of a relay opens one asset's creation; every other ticket belongs to our store. */
export async function authorizeTus(needs: RelayNeeds, request: Authorization): Promise<Asset> {
  const { urlSecrets, now } = needs;
  const { assetId, ticket, uploadId } = request;
  const presented = { assetId, ticket, now: now().getTime() / 1000 };
  if (!isValidTicket(urlSecrets, 'relay', presented)) {
    if (ticketReason(urlSecrets, { ...presented, purpose: 'relay', token: ticket }) === 'expired')
      throw unauthorized('The upload URL has expired', { reason: 'expired' });
    return needs.authorizeUpload(request);
  }
  const asset = await needs.findAssetById(assetId);
  if (!asset || asset.deleted_at || uploadId !== undefined) throw notFound('No such asset or upload');
  // A retry opened another upload, which has its own URL.
  if (!isValidTicket(urlSecrets, 'relay', { ...presented, attempt: asset.attempt }))
    throw unauthorized('The upload URL belongs to an earlier attempt', { reason: 'invalid_credential' });
  await needs.limitOwner(asset.owner_user_id);
  return asset;
}

export async function answerTusOrRelay(needs: RelayNeeds, request: TusRequest): Promise<TusResponse> {
  if (findRelay(needs, request.asset))
    return request.method === 'OPTIONS' ? describeRelay(needs) : relayCreation(needs, request);
  if (!needs.answerTus) throw notFound('This service takes no resumable uploads');
  return needs.answerTus(request);
}

const describeRelay = ({ maxUploadBytes }: RelayNeeds): TusResponse => ({
  status: 204,
  headers: { 'tus-version': '1.0.0', 'tus-extension': 'creation', 'tus-max-size': String(maxUploadBytes) },
});

async function relayCreation(needs: RelayNeeds, { asset, headers, body }: TusRequest): Promise<TusResponse> {
  const sizeBytes = parseCreation(headers);
  if ((body.length ?? 0) > 0 || headers['transfer-encoding'] !== undefined)
    throw badRequest('Send the creation without a body, and the bytes to the URL in its Location.', {
      field: 'body',
    });
  assertLength(asset, sizeBytes, needs.maxUploadBytes);
  await needs.findByteLimit(asset, { length: sizeBytes });
  const { url } = await needs.createTusUpload(asset, sizeBytes);
  return { status: 201, headers: { location: url } };
}

/** Returns the length of the upload. */
function parseCreation(headers: TusRequest['headers']): number {
  for (const field of ['Upload-Defer-Length', 'Upload-Concat'])
    if (headers[field.toLowerCase()] !== undefined)
      throw badRequest(`${field} is not supported: the video provider needs the length of the whole file`, {
        field,
      });
  const length = headers['upload-length'];
  const sizeBytes = typeof length === 'string' && /^\d+$/.test(length) ? Number(length) : Number.NaN;
  if (!Number.isSafeInteger(sizeBytes))
    throw badRequest('Upload-Length must be the length of the file in bytes', { field: 'Upload-Length' });
  return sizeBytes;
}
