// Takes the bytes of an original in one PUT: one writer at a time, all or nothing, nothing overwritten (contract B4).
import { randomUUID } from 'node:crypto';
import type { Asset } from '../assets/asset.ts';
import { newEvent } from '../assets/asset-event.ts';
import { isTicketGood } from '../auth/asset-ticket.ts';
import type { Secret } from '../auth/secret.ts';
import { ticketReason } from '../auth/ticket-reason.ts';
import { mediaTypeOf } from '../media/media-type.ts';
import { atMost } from '../platform/at-most.ts';
import {
  badRequest,
  conflict,
  notFound,
  payloadTooLarge,
  type ServiceError,
  unauthorized,
  unavailable,
  unsupportedMediaType,
} from '../platform/errors.ts';
import type { Database } from '../platform/postgres/database.ts';
import { originalKey } from '../storage/object-key.ts';
import { ObjectRefused, type ObjectStore, type StoredBytes } from '../storage/object-store.ts';
import { claimUpload, finishUpload, keepUpload, releaseUpload } from './transfers.sql.ts';

export type TransferNeeds = {
  readonly db: Database;
  readonly store: ObjectStore;
  readonly byId: (id: string) => Promise<Asset | undefined>;
  readonly urlSecrets: readonly Secret[];
  readonly maxUploadBytes: number;
  readonly now: () => Date;
};

/** A PUT as it begins; `length` is undefined for chunked bodies. */
export type Transfer = {
  readonly assetId: string;
  readonly ticket: string;
  readonly contentType: string | undefined;
  readonly length: number | undefined;
  readonly bytes: AsyncIterable<Uint8Array>;
};

const KEEP_EVERY_MS = 20_000;
/** A database that hangs would keep the caller from the answer for a second time; a right that is not released runs out after its minute. */
const RELEASE_MS = 500;

export async function receive(needs: TransferNeeds, transfer: Transfer): Promise<Asset> {
  const asset = await admitted(needs, transfer);
  refuseLength(asset, transfer.length, needs.maxUploadBytes);
  const writer = randomUUID();
  const keeping = setInterval(() => {
    keepUpload(needs.db, asset.id, writer).catch(() => {
      /* the claim then runs out, and finishUpload says so */
    });
  }, KEEP_EVERY_MS);
  try {
    if (!(await claimUpload(needs.db, asset.id, writer))) throw await whyTaken(needs, asset.id);
    return await write(needs, asset, { writer, transfer });
  } catch (error) {
    // Also a right that was given, and the answer lost.
    await atMost(RELEASE_MS, releaseUpload(needs.db, asset.id, writer));
    throw error;
  } finally {
    clearInterval(keeping);
  }
}

/** The asset that the ticket opens, if this body may be its bytes. */
async function admitted(
  { urlSecrets, now, byId }: TransferNeeds,
  { assetId, ticket, contentType }: Transfer,
): Promise<Asset> {
  if (!isTicketGood(urlSecrets, 'upload', { assetId, ticket, now: now().getTime() / 1000 }))
    throw unauthorized('The upload URL is invalid or has expired', {
      reason: ticketReason(urlSecrets, { purpose: 'upload', token: ticket, now: now().getTime() / 1000 }),
    });
  const asset = await byId(assetId);
  if (!asset || asset.deleted_at) throw notFound('No such asset');
  if (contentType !== undefined && mediaTypeOf(contentType)?.mime !== asset.mime_type) {
    throw unsupportedMediaType(`Content-Type must be ${asset.mime_type}`, {
      field: 'Content-Type',
      expected: asset.mime_type,
    });
  }
  return asset;
}

function refuseLength(asset: Asset, length: number | undefined, maxBytes: number): void {
  if (length === undefined) return;
  if (length > maxBytes) throw tooLarge(maxBytes);
  if (asset.announced_size_bytes !== null && length !== asset.announced_size_bytes)
    throw notAsAnnounced(asset.announced_size_bytes);
}

const tooLarge = (maxBytes: number) =>
  payloadTooLarge('The upload is over the maximum', { max_bytes: maxBytes });
const notAsAnnounced = (size: number) =>
  badRequest('The upload is not as long as size_bytes announced', { field: 'size_bytes', expected: size });

async function whyTaken({ byId }: TransferNeeds, id: string): Promise<ServiceError> {
  const asset = await byId(id);
  if (!asset || asset.deleted_at) return notFound('No such asset');
  if (asset.uploaded_at)
    return conflict('The bytes of this asset are there already', { reason: 'already_uploaded' });
  if (asset.stream_status !== 'pending_upload')
    return conflict('This asset takes no bytes any more', { reason: asset.stream_status });
  return conflict('Another upload of this asset is under way', { reason: 'upload_in_progress' });
}

async function write(
  needs: TransferNeeds,
  asset: Asset,
  { writer, transfer }: { writer: string; transfer: Transfer },
): Promise<Asset> {
  const { db, store, now } = needs;
  const key = originalKey(asset.id);
  // Bytes that a crash left before they were recorded: nobody was told of them, and nobody else may write now.
  await store.remove(key);
  const stored = await put(needs, asset, transfer.bytes);
  if (asset.announced_size_bytes !== null && stored.sizeBytes !== asset.announced_size_bytes) {
    await store.remove(key);
    throw notAsAnnounced(asset.announced_size_bytes);
  }
  const event = newEvent('asset.uploaded', { source: 'caller', size_bytes: stored.sizeBytes });
  const done = await finishUpload(db, asset.id, { writer, stored, event, now: now() });
  if (done) return done;
  const why = await whyTaken(needs, asset.id);
  if (why.code === 'NOT_FOUND') await store.remove(key);
  throw why;
}

async function put(
  { store, maxUploadBytes }: TransferNeeds,
  asset: Asset,
  bytes: Transfer['bytes'],
): Promise<StoredBytes> {
  try {
    return await store.put(originalKey(asset.id), bytes, asset.announced_size_bytes ?? maxUploadBytes);
  } catch (error) {
    throw error instanceof ObjectRefused ? asRefusal(error, asset, maxUploadBytes) : error;
  }
}

function asRefusal(error: ObjectRefused, asset: Asset, maxBytes: number): ServiceError {
  if (error.reason === 'too_long')
    return asset.announced_size_bytes === null
      ? tooLarge(maxBytes)
      : notAsAnnounced(asset.announced_size_bytes);
  if (error.reason === 'cut_short') return badRequest('The upload broke off', { reason: 'cut_short' });
  if (error.reason === 'exists')
    return conflict('Another upload of this asset is under way', { reason: 'upload_in_progress' });
  return unavailable('There is no space left for uploads', error);
}
