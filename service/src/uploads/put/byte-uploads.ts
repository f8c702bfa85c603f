// Receives the bytes of an original in one PUT (contract B4).
import { randomUUID } from 'node:crypto';
import type { Asset } from '../../assets/asset.ts';
import { isValidTicket, ticketReason } from '../../auth/tickets/asset-ticket.ts';
import { findMediaType } from '@mediary/media-rules/media-type';
import { badRequest, notFound, unauthorized, unsupportedMediaType } from '../../platform/http/errors.ts';
import type { UploadsContext } from '../context.ts';
import type { OriginalBytes } from '../original/store-original.ts';
import { storePut } from './small-puts.ts';

/** The ticket in the URL of an upload; `uploadId` is set for one that exists. */
type TicketRequest = {
  readonly assetId: string;
  readonly ticket: string;
  readonly uploadId?: string | undefined;
};

/** A PUT request before its body is read; `length` is undefined for chunked bodies. */
export type ByteUpload = TicketRequest &
  Pick<OriginalBytes, 'length' | 'bytes'> & {
    readonly contentType: string | undefined;
    readonly contentEncoding: string | undefined;
    readonly contentRange: string | undefined;
  };

export async function receiveUpload(ctx: UploadsContext, upload: ByteUpload): Promise<Asset> {
  assertUploadTicket(ctx, upload);
  assertWholeFile(upload);
  const asset = await getTicketAsset(ctx, upload);
  assertContentType(asset, upload.contentType);
  await ctx.admission.limitOwner(asset.owner_user_id);
  return storePut(ctx, asset, { ...upload, uploadId: randomUUID(), protocol: 'put' });
}

/** Returns the asset that the ticket belongs to. */
async function getTicketAsset(ctx: UploadsContext, request: TicketRequest): Promise<Asset> {
  const asset = await ctx.lifecycle.findAssetById(request.assetId);
  if (!asset || asset.deleted_at) throw notFound('No such asset');
  // A retry opened another upload, which has its own URL.
  if (asset.stream_status === 'pending_upload') assertUploadTicket(ctx, request, asset.attempt);
  return asset;
}

/** Returns the asset of a ticket, also for an upload that exists. */
export async function authorizeUpload(ctx: UploadsContext, request: TicketRequest): Promise<Asset> {
  assertUploadTicket(ctx, request);
  const asset = await getTicketAsset(ctx, request);
  await ctx.admission.limitOwner(asset.owner_user_id);
  return asset;
}

/** Needs no database. `attempt`: the one that the upload must belong to, if it is known. */
export function assertUploadTicket(
  { settings: { urlSecrets }, clocks: { now } }: UploadsContext,
  { assetId, ticket, uploadId }: TicketRequest,
  attempt?: number,
): void {
  // The ticket of an existing upload may have expired: the upload has an expiry of its own.
  const seconds = uploadId === undefined ? now().getTime() / 1000 : 0;
  const presented = { assetId, ticket, now: seconds, ...(attempt !== undefined && { attempt }) };
  if (isValidTicket(urlSecrets, 'upload', presented)) return;
  throw unauthorized('The upload URL is invalid or has expired', {
    reason: ticketReason(urlSecrets, { purpose: 'upload', token: ticket, now: seconds }),
  });
}

/** A part of a file, or a compressed file, must not be stored as the file. */
function assertWholeFile({ contentRange, contentEncoding }: ByteUpload): void {
  if (contentRange !== undefined)
    throw badRequest(
      `Content-Range "${contentRange}" is not supported: a PUT takes the whole file in one request. ` +
        'Send it from its first byte, without Content-Range.',
      { field: 'Content-Range', reason: 'partial_upload', value: contentRange },
    );
  if (contentEncoding !== undefined && contentEncoding.trim().toLowerCase() !== 'identity')
    throw badRequest(
      `Content-Encoding "${contentEncoding}" is not supported. ` +
        'Send the file as it is, without Content-Encoding.',
      {
        field: 'Content-Encoding',
        reason: 'encoded_upload',
        value: contentEncoding,
        allowed: ['identity'],
      },
    );
}

function assertContentType(asset: Asset, contentType: string | undefined): void {
  if (contentType === undefined || findMediaType(contentType)?.mime === asset.mime_type) return;
  throw unsupportedMediaType(`Content-Type must be ${asset.mime_type}`, {
    field: 'Content-Type',
    expected: asset.mime_type,
  });
}
