// Decides what a report changes. Pure, so tests can try every order and repetition (contract B6).
import type { DeliveryReason, StreamStatus } from '@mediary/contract/enums';
import { FAILURE_CODES, WARNING_CODES } from '@mediary/contract/failures';
import type { AssetMedia } from '@mediary/contract/schemas/assets/asset-media';
import type { Asset, Failure, Warning } from '../../assets/asset.ts';
import { toGrowingManifest, toReadyManifest } from '../../assets/playback-manifest.ts';
import { mergeRenditions } from '../../assets/renditions.ts';
import { type AssetChange, patchOf } from './change.ts';
import { eventsOf } from './report-events.ts';
import { type DeliveryOutcome, hasAllRenditions, type StreamReport } from './stream-report.ts';
import {
  openAttempt,
  type StreamState,
  toStreamState,
  withdrawGrowing,
  withReconcileTime,
  withWarnings,
} from './stream-state.ts';
import { advance } from './transitions.ts';

/** `change` is absent if the report changes nothing. */
type ReportDecision = DeliveryOutcome & { readonly change?: AssetChange };

export function decideReport(asset: Asset, report: StreamReport, now: Date): ReportDecision {
  const ignored = findIgnoreReason(asset, report);
  if (ignored) return { processed: false, reason: ignored };
  if (isSettledFor(asset, report))
    return advance('pending_upload', report.event) === asset.stream_status ? REPEAT : LATE;
  const base = toBaseState(asset, report);
  const to = advance(isFinal(report) ? 'pending_upload' : base.stream_status, report.event);
  const state = { ...withProgress(base, report), settled: base.settled || isFinal(report) };
  const next = withReconcileTime(
    asset,
    to ? enterStatus(state, to, { report, now }) : applyLateReport(state, report),
    now,
  );
  const set = patchOf(asset, next);
  if (Object.keys(set).length === 0) return to ? REPEAT : LATE;
  const change = {
    set,
    events: eventsOf(asset, { next, set, now }, report),
    jobs: jobsOf({ ...asset, ...next }),
  };
  return { processed: to !== undefined, reason: to ? 'applied' : 'late', change };
}

/** A replacement that is ready takes over; the job of a later report finds nothing to do. */
const jobsOf = ({ id, version_of: replaced, stream_status: status }: Asset): AssetChange['jobs'] =>
  replaced !== null && status === 'ready' ? [{ name: 'take-over', payload: { assetId: id } }] : [];

const REPEAT: ReportDecision = { processed: true, reason: 'repeat' };
const LATE: ReportDecision = { processed: false, reason: 'late' };

/** A report of a later attempt opens that attempt. */
const toBaseState = (asset: Asset, { attempt = asset.attempt }: StreamReport): StreamState =>
  attempt > asset.attempt ? openAttempt(asset, attempt) : toStreamState(asset);

/** The provider's API reports the current state, which overrides the table and settles the attempt. */
const isFinal = ({ source, event, complete }: StreamReport): boolean =>
  source === 'inspect' && event !== 'started' && complete !== false;

/** Only a later final report or another attempt changes a settled attempt. */
const isSettledFor = (asset: Asset, report: StreamReport): boolean =>
  asset.settled && (report.attempt ?? asset.attempt) === asset.attempt && !isFinal(report);

/** Real encoders are never so far ahead. A higher number from a faulty one would block later attempts. */
export const MAX_ATTEMPTS_AHEAD = 100;

function findIgnoreReason(asset: Asset, report: StreamReport): DeliveryReason | undefined {
  if (asset.deleted_at) return 'deleted_asset';
  if (asset.provider !== report.provider) return 'wrong_provider';
  const attempt = report.attempt ?? asset.attempt;
  if (attempt < asset.attempt) return 'older_attempt';
  if (attempt > asset.attempt + MAX_ATTEMPTS_AHEAD) return 'not_actionable';
  if (asset.refused && attempt === asset.attempt) return 'refused';
  return undefined;
}

/** Late reports count too: progress is the highest seen, and renditions only grow. */
function withProgress(state: StreamState, report: StreamReport): StreamState {
  return {
    ...state,
    progress: Math.max(state.progress, report.progress ?? 0),
    renditions: mergeRenditions(state.renditions, report.renditions ?? []),
  };
}

type ReportContext = { readonly report: StreamReport; readonly now: Date };

function enterStatus(state: StreamState, to: StreamStatus, context: ReportContext): StreamState {
  if (to === 'ready') return enterReady(state, context);
  if (to !== 'failed') return { ...withEarlyPlayback(state, context), stream_status: to };
  const failure = context.report.failure ?? state.failure ?? UNEXPLAINED;
  return { ...state, ...withdrawGrowing(state), stream_status: 'failed', failure };
}

/** Our encoder publishes its first segments while it makes the others. */
function withEarlyPlayback(state: StreamState, { report, now }: ReportContext): StreamState {
  const { playback: reported, media } = report;
  if (reported?.kind !== 'own' || !reported.growing) return state;
  return {
    ...state,
    playback: toGrowingManifest(state.playback, reported.run, state.attempt),
    playable_at: state.playable_at ?? now,
    width: media?.width ?? state.width,
    height: media?.height ?? state.height,
    duration_ms: media?.durationMs ?? state.duration_ms,
    // An earlier attempt has measured the loudness, which is not known yet in this one.
    media: state.media ?? toAssetMedia(media) ?? null,
  };
}

function enterReady(state: StreamState, { report, now }: ReportContext): StreamState {
  const playback = toReadyManifest(state.playback, report.playback, state.attempt);
  const warnings = isFinal(report)
    ? state.warnings.filter(({ code }) => code !== INCOMPLETE.code)
    : state.warnings;
  return {
    ...state,
    stream_status: 'ready',
    progress: 100,
    failure: null,
    playback,
    warnings: withWarnings(warnings, report.warnings ?? []),
    playable_at: state.playable_at ?? (playback ? now : null),
    ready_at: state.ready_at ?? (hasAllRenditions(report) ? now : null),
    size_bytes: report.media?.sizeBytes ?? state.size_bytes,
    width: report.media?.width ?? state.width,
    height: report.media?.height ?? state.height,
    duration_ms: report.media?.durationMs ?? state.duration_ms,
    placeholder: report.media?.placeholder ?? state.placeholder,
    media: toAssetMedia(report.media) ?? state.media,
    chapters: state.chapters ?? report.media?.chapters ?? null,
  };
}

/** Undefined for reports that do not describe the original, as those of other encoders. */
function toAssetMedia({
  container,
  video,
  audio = [],
  photo = null,
}: StreamReport['media'] = {}): AssetMedia | undefined {
  if (container === undefined) return undefined;
  return {
    container,
    video: video ?? null,
    audio: audio.map(({ codec, channels, language, loudness_lufs, true_peak_dbtp, gain_db }) => ({
      codec,
      channels,
      language,
      loudness_lufs,
      true_peak_dbtp,
      gain_db,
    })),
    photo,
  };
}

/** A failure after `ready` adds a warning; the video keeps playing. */
const applyLateReport = (state: StreamState, report: StreamReport): StreamState =>
  report.event === 'failed' && state.stream_status === 'ready'
    ? { ...state, warnings: withWarnings(state.warnings, [INCOMPLETE]) }
    : state;

const UNEXPLAINED: Failure = {
  code: 'encode_failed',
  message: FAILURE_CODES.encode_failed,
  retryable: true,
};
const INCOMPLETE: Warning = {
  code: 'encoding_incomplete',
  message: WARNING_CODES.encoding_incomplete,
};
