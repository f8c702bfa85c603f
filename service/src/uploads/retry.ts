// Retries failed assets: encodes the stored bytes again, imports or cuts again, or opens another upload
// (contract B4).
import type { EventData } from '../assets/asset-event.ts';
import type { Asset, Failure } from '../assets/asset.ts';
import type { JobRequest } from '../jobs.ts';
import { firstUploadCheckAt } from '../lifecycle/decisions/reconcile-schedule.ts';
import { assertNotHeld } from '../lifecycle/decisions/legal-hold.ts';
import { conflict, type ServiceError, toReason } from '../platform/http/errors.ts';
import { findMismatch } from './content-check.ts';
import type { UploadsContext } from './context.ts';
import { keepImportSource } from './import/import-runs.ts';
import type { OpenedUpload } from './upload-targets.ts';
import { continueUpload } from './uploads.ts';

/** A repeated call changes nothing: it returns the open attempt with its upload target. */
export const retryUpload = (ctx: UploadsContext, asset: Asset, actorData: EventData): Promise<OpenedUpload> =>
  ctx.usage.underQuota(asset.owner_user_id, () => retryUnderQuota(ctx, asset, actorData));

async function retryUnderQuota(
  ctx: UploadsContext,
  asset: Asset,
  actorData: EventData,
): Promise<OpenedUpload> {
  if (asset.stream_status === 'processing') return { asset, target: null };
  if (asset.stream_status === 'pending_upload' && asset.attempt > 1) return continueUpload(ctx, asset);
  if (asset.stream_status !== 'failed')
    throw conflict(`Only a failed asset can be retried; this one is ${asset.stream_status}.`, {
      reason: 'wrong_status',
      stream_status: asset.stream_status,
    });
  const canUpload = asset.refused && asset.clip_of === null;
  if (!canUpload && asset.failure && !asset.failure.retryable) throw notRetryable(asset.failure);
  if (needsUpload(ctx, asset)) return reopenUpload(ctx, asset, actorData);
  if (ctx.providers.isHosted(asset)) await ctx.providers.restart(asset);
  const job = ctx.providers.startJob({ ...asset, attempt: asset.attempt + 1 });
  return { asset: await ctx.lifecycle.retryAsset(asset, { job, actorData }), target: null };
}

function needsUpload(ctx: UploadsContext, asset: Asset): boolean {
  if (!ctx.providers.isHosted(asset)) return asset.refused || asset.uploaded_at === null;
  if (!ctx.providers.canTakeUploads(asset)) return false;
  return (
    asset.refused ||
    asset.provider_video_id === null ||
    asset.failure?.code === 'upload_failed' ||
    !ctx.providers.canRestart(asset)
  );
}

async function reopenUpload(ctx: UploadsContext, asset: Asset, actorData: EventData): Promise<OpenedUpload> {
  assertNotHeld(asset);
  const isHosted = ctx.providers.isHosted(asset);
  // A video that a service caller linked belongs to that caller and stays at the provider.
  if (isHosted && asset.upload_expires_at !== null) await ctx.providers.discardVideo(asset);
  const now = ctx.clocks.now();
  const expiresAt = new Date(now.getTime() + ctx.settings.uploadTtlSeconds * 1000);
  const name = asset.clip_of === null ? await keepImportSource(ctx, asset.id, expiresAt) : 'clip-asset';
  const job = name && toBytesJob(name, asset);
  const reopened = await ctx.lifecycle.reopenAsset(asset, {
    expiresAt,
    // An import has no video at its provider before its file is downloaded.
    checkAt: isHosted && !job ? firstUploadCheckAt(now) : null,
    keepsAnnouncement: !isAnnouncedFileRejected(asset),
    job,
    actorData,
  });
  return continueUpload(ctx, reopened);
}

/** The job by which the service itself gets the bytes. */
const toBytesJob = (
  name: 'import-asset' | 'adopt-asset' | 'clip-asset',
  { id, attempt }: Asset,
): JobRequest => ({ name, payload: { assetId: id, attempt: attempt + 1 } });

/** The announced file itself was unusable, so a corrected file has another size and checksum. */
const isAnnouncedFileRejected = (asset: Asset): boolean =>
  asset.refused &&
  asset.size_bytes !== null &&
  asset.failure?.code !== 'upload_expired' &&
  findMismatch(asset) === undefined;

/** The stored bytes would fail again. */
const notRetryable = ({ code, message }: Failure): ServiceError =>
  conflict(
    `This asset cannot be retried: ${message.replace(/\.$/, '')}. Upload a corrected file as a new asset.`,
    { reason: toReason(code), retryable: false },
  );
