// Completes uploads: validates the stored bytes and starts processing (contract B4).
import type { EventData } from '../assets/asset-event.ts';
import type { Asset, Failure } from '../assets/asset.ts';
import type { Completion } from '../lifecycle/decisions/decide-commands.ts';
import { checkFileType, detectFileType, HEAD_BYTES } from '@mediary/media-rules/magic-bytes';
import { findMediaType, type MediaType } from '@mediary/media-rules/media-type';
import type { MediaFacts } from '@mediary/media-rules/video-facts';
import type { ByteSource } from '../media/probe.ts';
import { toWarnings } from '@mediary/media-rules/warnings';
import { badRequest, conflict, type ServiceError, toReason } from '../platform/http/errors.ts';
import { originalKey, uploadKey } from '../storage/object-key.ts';
import type { ObjectStore } from '../storage/object-store.ts';
import { presignedUploadId } from '../storage/upload-id.ts';
import { readBytes } from '../storage/whole-objects.ts';
import { findMismatch, type RejectionCode, toContentFailure } from './content-check.ts';
import type { UploadsContext } from './context.ts';
import { findImport } from './import/imports.sql.ts';
import { finishUpload } from './original/store-original.ts';
import { countOtherUploads } from './tus/resumable-uploads.sql.ts';

/** A repeated call returns the same response. `actorData` is recorded in the timeline. */
export async function completeUpload(
  ctx: UploadsContext,
  asset: Asset,
  actorData: EventData,
): Promise<Asset> {
  if (asset.stream_status !== 'pending_upload') return toResult(asset);
  if (ctx.providers.isHosted(asset)) return toResult(await completeHosted(ctx, asset, actorData));
  const uploaded = asset.uploaded_at ? asset : await adoptPresignedUpload(ctx, asset);
  if (!uploaded?.uploaded_at)
    throw notUploaded(
      (await isServiceUpload(ctx, asset))
        ? SERVICE_GETS_THEM
        : 'Send them to the upload URL, then call again.',
    );
  return completeStored(ctx, uploaded, actorData);
}

async function completeStored(ctx: UploadsContext, asset: Asset, actorData: EventData): Promise<Asset> {
  const checked = await checkContent(ctx, asset);
  if (typeof checked === 'string')
    return toResult(await ctx.lifecycle.refuseAsset(asset, toContentFailure(checked)));
  const completion = toCompletion(ctx, { asset, checked, actorData });
  return toResult(await ctx.lifecycle.completeAsset(asset, completion));
}

type CheckedUpload = { readonly asset: Asset; readonly checked: ContentFacts; readonly actorData: EventData };

/** What the service has found in the bytes, and the job that processes them. */
export const toCompletion = (
  { providers }: UploadsContext,
  { asset, checked: { width, height, durationMs: duration_ms, traits }, actorData }: CheckedUpload,
): Completion => ({
  facts: { width, height, duration_ms },
  warnings: toWarnings(traits),
  job: providers.startJob(asset),
  actorData,
});

/**
 * Finds the object of a presigned PUT: the store does not tell the service of it. Undefined if it is not
 * there. The store compared the bytes with the signed length and SHA-256.
 */
async function adoptPresignedUpload(ctx: UploadsContext, asset: Asset): Promise<Asset | undefined> {
  if (!ctx.store.direct || asset.announced_size_bytes === null) return undefined;
  const uploadId = presignedUploadId(asset);
  const sizeBytes = await ctx.store.size(uploadKey(asset.id, uploadId));
  if (sizeBytes === undefined) return undefined;
  const stored = { sizeBytes, sha256: asset.announced_sha256 };
  const others = await countOtherUploads(ctx.db, { id: uploadId, assetId: asset.id });
  return (
    (await finishUpload(ctx, { asset, uploadId, stored, source: 'caller', mayHaveOrphans: others > 0 })) ??
    ctx.lifecycle.findAssetById(asset.id)
  );
}

/** Uploads that the service opened are checked with the provider; videos that callers linked are not. */
async function completeHosted(ctx: UploadsContext, asset: Asset, actorData: EventData): Promise<Asset> {
  const completion: Completion = { facts: {}, job: undefined, actorData };
  if (asset.upload_expires_at === null) return ctx.lifecycle.completeAsset(asset, completion);
  if (await isServiceUpload(ctx, asset)) throw notUploaded(SERVICE_GETS_THEM);
  if (asset.provider_video_id === null)
    throw conflict('The video provider was not reached when this upload was opened. Open another one.', {
      reason: 'provider_video_not_linked',
    });
  const inspection = await ctx.providers.inspectNow(asset);
  if (inspection.state !== 'known') throw notUploaded('Send them to the video provider, then call again.');
  const completed = await ctx.lifecycle.completeAsset(asset, completion);
  return inspection.report.event === 'started'
    ? completed
    : ctx.providers.applyInspection(asset, inspection.report);
}

const SERVICE_GETS_THEM = 'The service gets them, and completes the upload by itself.';

/** An import, an adoption or a clip that waits for its bytes. */
const isServiceUpload = async ({ db }: UploadsContext, { id, clip_of: clipOf }: Asset): Promise<boolean> =>
  clipOf !== null || (await findImport(db, id)) !== undefined;

/** Throws the error of rejected bytes, so that a repeated call returns it again. */
function toResult(asset: Asset): Asset {
  if (asset.stream_status === 'pending_upload')
    throw notUploaded('A retry opened another upload meanwhile. Send them there, then call again.');
  if (asset.refused && asset.failure) throw toServiceError(asset.failure);
  return asset;
}

const notUploaded = (action: string): ServiceError =>
  badRequest(`The bytes of this asset have not arrived yet. ${action}`, { reason: 'not_uploaded' });

const toServiceError = ({ code, message }: Failure): ServiceError =>
  badRequest(message, { reason: toReason(code) });

type ContentFacts = Omit<MediaFacts, 'hasVideo' | 'hasAudio'>;
/** The size of an image is known once its job has decoded it. */
const UNKNOWN_FACTS: ContentFacts = { width: null, height: null, durationMs: null, traits: {} };

/** Reads only the head of the file and what a bounded probe needs. Returns why the bytes are refused. */
export async function checkContent(
  { store, worker }: UploadsContext,
  asset: Asset,
): Promise<ContentFacts | RejectionCode> {
  const mismatch = findMismatch(asset);
  if (mismatch) return mismatch;
  const media = findMediaType(asset.mime_type) as MediaType;
  const source = openSource(store, asset);
  const detected = detectFileType(await source.read(0, Math.min(source.sizeBytes, HEAD_BYTES)));
  const verdict = checkFileType(media, detected);
  if (verdict !== 'ok') return verdict;
  if (media.kind === 'image') return UNKNOWN_FACTS;
  const { probe } = worker;
  const probed = await (media.kind === 'audio'
    ? probe.probeAudio(source, media.container, asset.owner_user_id)
    : probe.probe(source, media.container, asset.owner_user_id));
  return 'refused' in probed ? probed.refused : probed.facts;
}

function openSource(store: ObjectStore, asset: Asset): ByteSource {
  const key = originalKey(asset);
  return {
    sizeBytes: asset.size_bytes ?? 0,
    read: async (start, end) => {
      return end <= start ? new Uint8Array() : readBytes(store, key, { start, end: end - 1 });
    },
  };
}
