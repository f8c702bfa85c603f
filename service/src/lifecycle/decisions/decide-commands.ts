// Decides what completions, retries, refusals, checks and posters do to an asset: pure, like decide.ts.
import { FAILURE_CODES } from '@mediary/contract/failures';
import type { Asset, Failure, Warning } from '../../assets/asset.ts';
import { type EventData, newEvent } from '../../assets/asset-event.ts';
import { withPoster } from '../../assets/playback-manifest.ts';
import { isPosterDue } from '../../assets/poster.ts';
import { mergeRenditions } from '../../assets/renditions.ts';
import type { JobRequest } from '../../jobs.ts';
import { shownColumns } from '../../tables.ts';
import { type AssetChange, patchOf } from './change.ts';
import { type Delay, decideDelay } from './delay.ts';
import { assertNotHeld } from './legal-hold.ts';
import { hasAllRenditions, type StreamReport } from './stream-report.ts';
import {
  openAttempt,
  type StreamState,
  toCheckData,
  toStreamState,
  withReconcileTime,
  withWarnings,
} from './stream-state.ts';
import { advance } from './transitions.ts';

/** `job` processes the bytes; undefined if the provider does. `actorData` is recorded in the timeline. */
export type Completion = {
  readonly facts: Partial<Pick<StreamState, 'width' | 'height' | 'duration_ms'>>;
  /** About the file. */
  readonly warnings?: readonly Warning[];
  readonly job?: JobRequest | undefined;
  readonly actorData?: EventData;
};

/** The stored bytes are valid, so processing starts; undefined if the upload was completed before. */
export function decideCompletion(
  asset: Asset,
  { facts, warnings = [], job, actorData = {} }: Completion,
  now: Date,
): AssetChange | undefined {
  const to = advance(asset.stream_status, 'completed');
  if (!to) return undefined;
  const state = { ...toStreamState(asset), ...facts, warnings: withWarnings(asset.warnings, warnings) };
  const next = withReconcileTime(asset, { ...state, stream_status: to }, now);
  const data = { attempt: asset.attempt, source: 'caller', ...toCheckData(next), ...actorData };
  return { set: patchOf(asset, next), events: [newEvent('asset.processing', data)], jobs: toList(job) };
}

/** The service fails the attempt for good. A job removes the bytes, unless a legal hold keeps them. */
export function decideRefusal(asset: Asset, failure: Failure): AssetChange {
  const failed = { stream_status: 'failed', failure, refused: true, reconcile_at: null } as const;
  const hasBytes = asset.uploaded_at !== null || asset.provider_video_id !== null;
  const isKept = asset.legal_hold && hasBytes;
  return {
    set: isKept ? failed : { ...failed, uploaded_at: null },
    events: [newEvent('asset.failed', { attempt: asset.attempt, source: 'service', code: failure.code })],
    jobs: isKept ? [] : [{ name: 'purge-asset', payload: { assetId: asset.id } }],
  };
}

type StoredChecksum = {
  readonly uploadId: string | null;
  readonly sha256: string;
  readonly duplicateOf: string | null;
};

/**
 * The SHA-256 of an original that went straight to the store, once a job has read it. Undefined if the asset
 * has another original, or its SHA-256 is known. Bytes with another SHA-256 than announced are refused, also
 * in a later attempt: an earlier one may have ended before a job had read them.
 */
export function decideChecksum(asset: Asset, stored: StoredChecksum): AssetChange | undefined {
  const { uploadId, sha256, duplicateOf } = stored;
  if (asset.uploaded_at === null || asset.original_upload !== uploadId) return undefined;
  const known = asset.checksum_sha256;
  if (known !== null && known !== sha256) return undefined;
  const set = { checksum_sha256: sha256, duplicate_of: duplicateOf };
  const isRefused = asset.announced_sha256 !== null && asset.announced_sha256 !== sha256;
  if (!isRefused || asset.stream_status !== 'processing')
    return known === null ? { set, events: [], jobs: [] } : undefined;
  const refusal = decideRefusal(asset, CHECKSUM_MISMATCH);
  return { ...refusal, set: { ...refusal.set, ...set } };
}

const CHECKSUM_MISMATCH: Failure = {
  code: 'checksum_mismatch',
  message: FAILURE_CODES.checksum_mismatch,
  retryable: true,
};

export type Retry = Pick<Completion, 'job' | 'actorData'>;

/** Opens an attempt on the stored bytes; undefined if the asset has not failed. */
export function decideRetry(
  asset: Asset,
  { job, actorData = {} }: Retry,
  now: Date,
): AssetChange | undefined {
  if (asset.stream_status !== 'failed') return undefined;
  const next = withReconcileTime(asset, openAttempt(asset, asset.attempt + 1), now);
  const data = { attempt: next.attempt, source: 'caller', ...toCheckData(next), ...actorData };
  return { set: patchOf(asset, next), events: [newEvent('asset.processing', data)], jobs: toList(job) };
}

export type Reopening = {
  readonly expiresAt: Date;
  /** When a hosted provider is asked about the upload; null for uploads to our store. */
  readonly checkAt: Date | null;
  /** Whether the announced size and checksum apply to the new bytes too. */
  readonly keepsAnnouncement: boolean;
  /** Delivers the bytes; undefined if the caller uploads them. */
  readonly job?: JobRequest | undefined;
  readonly actorData: EventData;
};

/** Opens an attempt with a new upload; undefined if the asset has not failed. A job removes the old bytes. */
export function decideReopening(asset: Asset, reopening: Reopening): AssetChange | undefined {
  if (asset.stream_status !== 'failed') return undefined;
  assertNotHeld(asset);
  const attempt = asset.attempt + 1;
  const data = { attempt, source: 'caller', upload_reopened: true, ...reopening.actorData };
  return {
    set: patchOf(asset, {
      ...openAttempt(asset, attempt),
      stream_status: 'pending_upload',
      warnings: [],
      uploaded_at: null,
      size_bytes: null,
      checksum_sha256: null,
      duplicate_of: null,
      upload_expires_at: reopening.expiresAt,
      provider_video_id: null,
      reconcile_at: reopening.checkAt,
      ...(!reopening.keepsAnnouncement && { announced_size_bytes: null, announced_sha256: null }),
    }),
    events: [newEvent('asset.updated', data)],
    jobs: [{ name: 'purge-asset', payload: { assetId: asset.id } }, ...toList(reopening.job)],
  };
}

/** `data`: the check's result. `restartsEncoding`: encode again, because a finished run's report was lost. */
export type CheckRecord = {
  readonly data: EventData;
  readonly checkAt: Date | null;
  readonly restartsEncoding?: boolean;
  readonly job?: JobRequest | undefined;
  /** Without an event, because the timeline says it already. */
  readonly isSilent?: boolean;
  /** The check found that the asset is late. */
  readonly delay?: Delay | undefined;
};

/** Records a check by the reconcile job, and the time of the next one. */
export function decideCheck(
  asset: Asset,
  { data, checkAt, restartsEncoding = false, job, isSilent = false, delay }: CheckRecord,
): AssetChange {
  const late = delay && decideDelay(asset, delay);
  const next = { reconcile_at: checkAt, ...(restartsEncoding && { encoded_run: 0 }), ...late?.set };
  const recorded = { attempt: asset.attempt, source: 'reconcile', ...data, ...toCheckData(next) };
  return {
    set: patchOf(asset, next),
    events: [...(late?.events ?? []), ...(isSilent ? [] : [newEvent('asset.checked', recorded)])],
    jobs: toList(job),
  };
}

/** `report` is absent where the provider's API is not configured. */
export type FactsRecord = {
  readonly report?: Pick<StreamReport, 'event' | 'complete' | 'media' | 'renditions'>;
  readonly checkAt: Date | null;
};

/**
 * Adds facts that webhooks do not report to a ready video. The state and `settled` do not change, so later
 * webhooks still apply.
 */
export function decideFacts(asset: Asset, { report, checkAt }: FactsRecord, now: Date): AssetChange {
  const { media = {}, renditions = [] } = report ?? {};
  const set = patchOf(asset, {
    ready_at: asset.ready_at ?? (report && hasAllRenditions(report) ? now : null),
    size_bytes: media.sizeBytes ?? asset.size_bytes,
    width: media.width ?? asset.width,
    height: media.height ?? asset.height,
    duration_ms: media.durationMs ?? asset.duration_ms,
    renditions: mergeRenditions(asset.renditions, renditions),
    reconcile_at: checkAt,
  });
  const fields = Object.keys(set).filter((name) => name in shownColumns);
  const event = newEvent('asset.updated', { attempt: asset.attempt, source: 'inspect', fields });
  return { set, events: fields.length > 0 ? [event] : [], jobs: [] };
}

/** Shows the poster that was rendered for `rendered`; undefined if the asset needs another poster now. */
export function decidePoster(asset: Asset, rendered: Asset): AssetChange | undefined {
  const { playback, poster_time_ms: timeMs } = asset;
  if (playback?.kind !== 'own' || rendered.playback?.kind !== 'own') return undefined;
  if (playback.folder !== rendered.playback.folder) return undefined;
  if (timeMs !== rendered.poster_time_ms || !isPosterDue(asset)) return undefined;
  return {
    set: { playback: withPoster(playback, timeMs) },
    events: [newEvent('asset.updated', { attempt: asset.attempt, source: 'service', fields: ['playback'] })],
    jobs: [],
  };
}

const toList = (job: JobRequest | undefined): JobRequest[] => (job ? [job] : []);
