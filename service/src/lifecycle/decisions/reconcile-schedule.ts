// When the reconcile job checks an asset: every state that waits has a time of its next check (contract B6).
import type { Asset } from '../../assets/asset.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

/** Early: the first check computes the deadline from the provider's recent speed. */
const FIRST_CHECK_MS = 2 * MINUTE;
/** Whether a hosted provider has received bytes for an upload. */
const UPLOAD_CHECK_MS = 15 * MINUTE;
/** A provider may report an error and then recover. */
const FAILURE_CHECK_MS = 30 * MINUTE;
const FAILURE_CHECKS_END_MS = 24 * HOUR;
const FACTS_CHECKS_END_MS = 24 * HOUR;
const MIN_INTERVAL_MS = 5 * MINUTE;
const MAX_INTERVAL_MS = 6 * HOUR;

type CheckedAsset = Pick<
  Asset,
  | 'stream_status'
  | 'provider'
  | 'provider_video_id'
  | 'refused'
  | 'warnings'
  | 'settled'
  | 'attempt'
  | 'ready_at'
  | 'size_bytes'
  | 'width'
  | 'height'
  | 'duration_ms'
>;

/** The first check after a change of state; null if the service waits for nothing. */
export function firstReconcileAt(asset: CheckedAsset, now: Date): Date | null {
  if (asset.stream_status === 'processing') return addMs(now, FIRST_CHECK_MS);
  if (asset.provider_video_id === null || asset.refused) return null;
  if (asset.stream_status === 'failed') return addMs(now, FAILURE_CHECK_MS);
  return isIncomplete(asset) || lacksFacts(asset) ? now : null;
}

/** A failure was reported after `ready`: the provider's current state decides. */
const isIncomplete = ({ warnings }: Pick<Asset, 'warnings'>): boolean =>
  warnings.some(({ code }) => code === 'encoding_incomplete');

/**
 * Webhooks carry few facts or none, and those of an earlier attempt may differ. A `ready` before the last
 * rendition may be the only one that the provider sends.
 */
function lacksFacts({ settled, attempt, ready_at, ...facts }: CheckedAsset): boolean {
  const { size_bytes, width, height, duration_ms } = facts;
  if (settled) return false;
  return attempt > 1 || ready_at === null || [size_bytes, width, height, duration_ms].includes(null);
}

/** True when a check of this video only completes its facts, and must not change its state. */
export const isFactsCheck = (asset: Pick<Asset, 'stream_status' | 'settled' | 'warnings'>): boolean =>
  asset.stream_status === 'ready' && !asset.settled && !isIncomplete(asset);

export const firstUploadCheckAt = (opened: Date): Date => addMs(opened, UPLOAD_CHECK_MS);

/** The properties of a file that are known before it is encoded. */
type SourceSize = Pick<Asset, 'duration_ms' | 'size_bytes' | 'announced_size_bytes'>;

/** Slower than every encoder in practice, so that a deadline never cuts off a running one. */
const SLOWEST = { bytesPerSecond: 1_000_000, speed: 0.25 };

/**
 * How long an encoding may take. `speed`: recently encoded seconds of video per second; values below
 * the slowest speed are ignored.
 */
export function expectedMs({ duration_ms, size_bytes, announced_size_bytes }: SourceSize, speed = 0): number {
  const bySize = ((size_bytes ?? announced_size_bytes ?? 0) / SLOWEST.bytesPerSecond) * 1000;
  const byDuration = (duration_ms ?? 0) / Math.max(speed, SLOWEST.speed);
  return Math.round(MIN_INTERVAL_MS + Math.max(bySize, byDuration));
}

/** The interval is half of the time waited so far, within limits. */
export const nextReconcileAt = (since: Date, now: Date): Date =>
  addMs(now, Math.min(Math.max((now.getTime() - since.getTime()) / 2, MIN_INTERVAL_MS), MAX_INTERVAL_MS));

/** At the latest when the upload expires, because a provider reserves storage for it. */
export const untilExpiry = (
  { stream_status, upload_expires_at: end }: Pick<Asset, 'stream_status' | 'upload_expires_at'>,
  next: Date,
  now: Date,
): Date => (stream_status === 'pending_upload' && end !== null && end > now && end < next ? end : next);

/** The next check of a failed asset; null a day after the failure. */
export const nextReconcileAfterFailure = (failedAt: Date, now: Date): Date | null =>
  now.getTime() - failedAt.getTime() < FAILURE_CHECKS_END_MS
    ? addMs(nextReconcileAt(failedAt, now), FAILURE_CHECK_MS - MIN_INTERVAL_MS)
    : null;

/** The next question about the facts of a video; null a day after it became ready. */
export const nextFactsCheckAt = (readyAt: Date, now: Date): Date | null =>
  now.getTime() - readyAt.getTime() < FACTS_CHECKS_END_MS ? nextReconcileAt(readyAt, now) : null;

export const addMs = (time: Date, ms: number): Date => new Date(time.getTime() + ms);
