// Retries failed assets: encodes the stored bytes again, imports or cuts again, or opens another upload
// (contract B4).
import type { Asset, Failure } from '../assets/asset.ts';
import type { EventData } from '../assets/asset-event.ts';
import { firstUploadCheckAt } from '../lifecycle/decisions/reconcile-schedule.ts';
import type { JobRequest } from '../jobs.ts';
import type { reopenAsset, retryAsset } from '../lifecycle/reports.ts';
import type { Bound } from '../platform/bind.ts';
import { conflict, type ServiceError, toReason } from '../platform/http/errors.ts';
import type { canRestart, canTakeUploads, isHosted } from '../providers/hosted-playback.ts';
import type { discardVideo, restart } from '../providers/hosted-videos.ts';
import type { Provider } from '../providers/provider.ts';
import { findMismatch } from './content-check.ts';
import type { keepImportSource } from './import/import-runs.ts';
import type { OpenedUpload, offerUpload } from './uploads.ts';

type RetryNeeds = {
  readonly isHosted: Bound<typeof isHosted>;
  readonly canRestart: Bound<typeof canRestart>;
  readonly canTakeUploads: Bound<typeof canTakeUploads>;
  readonly restart: Bound<typeof restart>;
  readonly discardVideo: Bound<typeof discardVideo>;
  readonly startJob: Provider['startJob'];
  readonly retryAsset: Bound<typeof retryAsset>;
  readonly reopenAsset: Bound<typeof reopenAsset>;
  readonly offerUpload: Bound<typeof offerUpload>;
  readonly keepImportSource: Bound<typeof keepImportSource>;
  readonly uploadTtlSeconds: number;
  readonly now: () => Date;
};

/** A repeated call changes nothing: it returns the open attempt with its upload target. */
export async function retryUpload(
  needs: RetryNeeds,
  asset: Asset,
  actorData: EventData,
): Promise<OpenedUpload> {
  if (asset.stream_status === 'processing') return { asset, target: null };
  if (asset.stream_status === 'pending_upload' && asset.attempt > 1) return withTarget(needs, asset);
  if (asset.stream_status !== 'failed')
    throw conflict(`Only a failed asset can be retried; this one is ${asset.stream_status}.`, {
      reason: 'wrong_status',
      stream_status: asset.stream_status,
    });
  const canUpload = asset.refused && asset.clip_of === null;
  if (!canUpload && asset.failure && !asset.failure.retryable) throw notRetryable(asset.failure);
  if (needsUpload(needs, asset)) return reopenUpload(needs, asset, actorData);
  if (needs.isHosted(asset)) await needs.restart(asset);
  const job = needs.startJob({ ...asset, attempt: asset.attempt + 1 });
  return { asset: await needs.retryAsset(asset, { job, actorData }), target: null };
}

function needsUpload(needs: RetryNeeds, asset: Asset): boolean {
  if (!needs.isHosted(asset)) return asset.refused || asset.uploaded_at === null;
  if (!needs.canTakeUploads(asset)) return false;
  return (
    asset.refused ||
    asset.provider_video_id === null ||
    asset.failure?.code === 'upload_failed' ||
    !needs.canRestart(asset)
  );
}

async function reopenUpload(needs: RetryNeeds, asset: Asset, actorData: EventData): Promise<OpenedUpload> {
  const isHosted = needs.isHosted(asset);
  // A video that a service caller linked belongs to that caller and stays at the provider.
  if (isHosted && asset.upload_expires_at !== null) await needs.discardVideo(asset);
  const now = needs.now();
  const expiresAt = new Date(now.getTime() + needs.uploadTtlSeconds * 1000);
  const job =
    asset.clip_of === null && !(await needs.keepImportSource(asset.id, expiresAt))
      ? undefined
      : toBytesJob(asset);
  const reopened = await needs.reopenAsset(asset, {
    expiresAt,
    // An import has no video at its provider before its file is downloaded.
    checkAt: isHosted && !job ? firstUploadCheckAt(now) : null,
    keepsAnnouncement: !isAnnouncedFileRejected(asset),
    job,
    actorData,
  });
  return withTarget(needs, reopened);
}

/** The job by which the service itself gets the bytes. */
const toBytesJob = ({ id, attempt, clip_of: clipOf }: Asset): JobRequest => ({
  name: clipOf === null ? 'import-asset' : 'clip-asset',
  payload: { assetId: id, attempt: attempt + 1 },
});

/** No target where the service itself gets the bytes. */
async function withTarget(needs: RetryNeeds, asset: Asset): Promise<OpenedUpload> {
  const isAwaitingBytes = asset.stream_status === 'pending_upload' && asset.uploaded_at === null;
  const isClip = asset.clip_of !== null;
  return isAwaitingBytes && !isClip && !(await needs.keepImportSource(asset.id, needs.now()))
    ? needs.offerUpload(asset)
    : { asset, target: null };
}

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
