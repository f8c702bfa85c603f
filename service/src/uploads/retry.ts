// Opens another attempt at what failed: on the stored bytes, or with another upload where there are none (contract B4).
import type { Asset, Failure } from '../assets/asset.ts';
import type { EventData } from '../assets/asset-event.ts';
import type { Reopening } from '../lifecycle/reopening.ts';
import { firstUploadCheckAt } from '../lifecycle/reconcile-schedule.ts';
import type { StartJob } from '../jobs.ts';
import { conflict, type ServiceError, toReason } from '../platform/errors.ts';
import { announcedMismatch } from './content-check.ts';
import type { OpenedUpload } from './uploads.ts';

export type RetryNeeds = {
  readonly isHosted: (asset: Asset) => boolean;
  /** Whether the hosted provider's API is configured and can encode a stored video again. */
  readonly canRestart: (asset: Asset) => boolean;
  readonly canTakeUploads: (asset: Asset) => boolean;
  readonly restart: (asset: Asset) => Promise<void>;
  readonly discardVideo: (asset: Asset) => Promise<void>;
  readonly startJob: (asset: Asset) => StartJob | undefined;
  readonly retryAsset: (asset: Asset, how: { job: StartJob | undefined; note: EventData }) => Promise<Asset>;
  readonly reopenAsset: (asset: Asset, reopening: Reopening) => Promise<Asset>;
  readonly offerUpload: (asset: Asset) => Promise<OpenedUpload>;
  readonly uploadTtlSeconds: number;
  readonly now: () => Date;
};

/** Repeating a retry changes nothing: it returns the attempt that is open, with its upload target. */
export async function retryUpload(needs: RetryNeeds, asset: Asset, note: EventData): Promise<OpenedUpload> {
  if (asset.stream_status === 'processing') return { asset, target: null };
  if (asset.stream_status === 'pending_upload' && asset.attempt > 1) return openedUpload(needs, asset);
  if (asset.stream_status !== 'failed')
    throw conflict(`Only a failed asset can be retried; this one is ${asset.stream_status}.`, {
      reason: asset.stream_status,
    });
  if (!asset.refused && asset.failure && !asset.failure.retryable) throw notRetryable(asset.failure);
  if (mustUploadAgain(needs, asset)) return reopen(needs, asset, note);
  if (needs.isHosted(asset)) await needs.restart(asset);
  const job = needs.startJob({ ...asset, attempt: asset.attempt + 1 });
  return { asset: await needs.retryAsset(asset, { job, note }), target: null };
}

function mustUploadAgain(needs: RetryNeeds, asset: Asset): boolean {
  if (!needs.isHosted(asset)) return asset.refused || asset.uploaded_at === null;
  if (!needs.canTakeUploads(asset)) return false;
  return (
    asset.refused ||
    asset.provider_video_id === null ||
    asset.failure?.code === 'upload_failed' ||
    !needs.canRestart(asset)
  );
}

async function reopen(needs: RetryNeeds, asset: Asset, note: EventData): Promise<OpenedUpload> {
  const isHosted = needs.isHosted(asset);
  // A video that the caller linked is the caller's: it stays at the provider.
  if (isHosted && asset.upload_expires_at !== null) await needs.discardVideo(asset);
  const now = needs.now();
  const reopened = await needs.reopenAsset(asset, {
    expiresAt: new Date(now.getTime() + needs.uploadTtlSeconds * 1000),
    checkAt: isHosted ? firstUploadCheckAt(now) : null,
    isAnnouncementKept: !isAnnouncedFileRefused(asset),
    note,
  });
  return openedUpload(needs, reopened);
}

const openedUpload = async (needs: RetryNeeds, asset: Asset): Promise<OpenedUpload> =>
  asset.stream_status === 'pending_upload' && asset.uploaded_at === null
    ? needs.offerUpload(asset)
    : { asset, target: null };

/** The bytes were those that were announced, and unusable: a corrected file has another size and checksum. */
const isAnnouncedFileRefused = (asset: Asset): boolean =>
  asset.refused &&
  asset.size_bytes !== null &&
  asset.failure?.code !== 'upload_expired' &&
  announcedMismatch(asset) === undefined;

/** The same bytes would fail again. */
const notRetryable = ({ code, message }: Failure): ServiceError =>
  conflict(
    `This asset cannot be retried: ${message.replace(/\.$/, '')}. Upload a corrected file as a new asset.`,
    { reason: toReason(code), retryable: false },
  );
