// When the sweep looks at what is waited for: nothing stays under way without a time at which somebody asks (contract B6).
import type { Asset } from '../assets/asset.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

/** After a move into `processing`: early, because only the sweep knows how fast the provider was lately. */
const FIRST_LOOK_MS = 2 * MINUTE;
/** At a hosted provider, whether it has heard of an upload that was opened there. */
const UPLOAD_LOOK_MS = 15 * MINUTE;
/** A provider may report an error and then recover. */
const FAILURE_PAUSE_MS = 30 * MINUTE;
const ASKED_AFTER_FAILURE_MS = 24 * HOUR;
const SHORTEST_PAUSE_MS = 5 * MINUTE;
const LONGEST_PAUSE_MS = 6 * HOUR;

type Waiting = Pick<Asset, 'stream_status' | 'provider' | 'provider_video_id' | 'refused' | 'warnings'>;

/** After a move: when to look first; null where nothing is waited for. */
export function firstReconcileAt(asset: Waiting, now: Date): Date | null {
  if (asset.stream_status === 'processing') return addMs(now, FIRST_LOOK_MS);
  if (asset.provider_video_id === null || asset.refused) return null;
  if (asset.stream_status === 'failed') return addMs(now, FAILURE_PAUSE_MS);
  return asset.warnings.some(({ code }) => code === 'encoding_incomplete') ? now : null;
}

export const firstUploadCheckAt = (opened: Date): Date => addMs(opened, UPLOAD_LOOK_MS);

/** What is known of a file before it is encoded. */
type Known = Pick<Asset, 'duration_ms' | 'size_bytes' | 'announced_size_bytes'>;

/** Slower than any encoder worth waiting for. */
const SLOWEST = { bytesPerSecond: 1_000_000, filmPerSecond: 0.25 };

/** How long an encoding may take; `filmPerSecond`: seconds of film that its provider made in a second lately, which of short films or after a standstill is next to none. */
export function expectedMs(
  { duration_ms, size_bytes, announced_size_bytes }: Known,
  filmPerSecond = 0,
): number {
  const bySize = ((size_bytes ?? announced_size_bytes ?? 0) / SLOWEST.bytesPerSecond) * 1000;
  const byDuration = (duration_ms ?? 0) / Math.max(filmPerSecond, SLOWEST.filmPerSecond);
  return Math.round(SHORTEST_PAUSE_MS + Math.max(bySize, byDuration));
}

/** The pause before the next look: the longer something takes already, the longer. */
export const nextReconcileAt = (since: Date, now: Date): Date =>
  addMs(now, Math.min(Math.max((now.getTime() - since.getTime()) / 2, SHORTEST_PAUSE_MS), LONGEST_PAUSE_MS));

/** After a failure the provider is asked for a day; null: no more. */
export const nextReconcileAfterFailure = (failedAt: Date, now: Date): Date | null =>
  now.getTime() - failedAt.getTime() < ASKED_AFTER_FAILURE_MS
    ? addMs(nextReconcileAt(failedAt, now), FAILURE_PAUSE_MS - SHORTEST_PAUSE_MS)
    : null;

export const addMs = (moment: Date, ms: number): Date => new Date(moment.getTime() + ms);
