// Decides what a report does to an asset: pure, so that every order and repetition of reports can be tried (contract B6).
import type { Asset, Failure, Warning } from '../assets/asset.ts';
import { toReadyManifest } from '../assets/playback-manifest.ts';
import { mergeRenditions } from '../assets/renditions.ts';
import { type Change, patchOf } from './change.ts';
import type { Outcome } from './delivery.ts';
import { eventsOf } from './report-events.ts';
import type { Reason, StreamReport } from './stream-report.ts';
import { openAttempt, stateOf, type StreamState, withReconcileTime } from './stream-state.ts';
import { advance, type StreamStatus } from './transitions.ts';

/** `change` is absent where the report changes nothing. */
export type ReportDecision = Outcome & { readonly change?: Change };

/** The effect on the asset, and the outcome that the sender is told. */
export function decideReport(asset: Asset, report: StreamReport, now: Date): ReportDecision {
  const why = findIgnoreReason(asset, report);
  if (why) return { processed: false, reason: why };
  if (isSettledFor(asset, report))
    return advance('pending_upload', report.event) === asset.stream_status ? REPEAT : LATE;
  const base =
    (report.attempt ?? asset.attempt) > asset.attempt
      ? openAttempt(asset, report.attempt as number)
      : stateOf(asset);
  const isLast = isFinalAnswer(report);
  const to = advance(isLast ? 'pending_upload' : base.stream_status, report.event);
  const seen = { ...withProgress(base, report), settled: base.settled || isLast };
  const next = withReconcileTime(
    asset,
    to ? enterStatus(seen, to, { report, now }) : applyLateReport(seen, report),
    now,
  );
  const set = patchOf(asset, next);
  const change =
    Object.keys(set).length === 0
      ? undefined
      : { set, events: eventsOf(asset, { next, set, now }, report), jobs: [] };
  const reason = to ? (change ? 'applied' : 'repeat') : 'late';
  return { processed: to !== undefined, reason, ...(change && { change }) };
}

const REPEAT: ReportDecision = { processed: true, reason: 'repeat' };
const LATE: ReportDecision = { processed: false, reason: 'late' };

/** Learned by asking the provider itself: taken as it is, whatever the table says, and the end of the attempt. */
const isFinalAnswer = ({ source, event, complete }: StreamReport): boolean =>
  source === 'inspect' && event !== 'started' && complete !== false;

/** After the provider's last word only its next one, or another attempt, changes anything. */
const isSettledFor = (asset: Asset, report: StreamReport): boolean =>
  asset.settled && (report.attempt ?? asset.attempt) === asset.attempt && !isFinalAnswer(report);

/** Deliveries that arrive in any order never lie this far apart; one that does would use up the counter (B6). */
export const MAX_ATTEMPTS_AHEAD = 100;

/** Why a report does not count for this asset, if it does not. */
function findIgnoreReason(asset: Asset, report: StreamReport): Reason | undefined {
  if (asset.deleted_at) return 'deleted_asset';
  if (asset.provider !== report.provider) return 'wrong_provider';
  const attempt = report.attempt ?? asset.attempt;
  if (attempt < asset.attempt) return 'older_attempt';
  if (attempt > asset.attempt + MAX_ATTEMPTS_AHEAD) return 'not_actionable';
  if (asset.refused && attempt === asset.attempt) return 'refused';
  return undefined;
}

/** Progress is the highest seen and renditions only grow, also by reports that come too late to move the state. */
function withProgress(state: StreamState, report: StreamReport): StreamState {
  return {
    ...state,
    progress: Math.max(state.progress, report.progress ?? 0),
    renditions: mergeRenditions(state.renditions, report.renditions ?? []),
  };
}

type ReportContext = { readonly report: StreamReport; readonly now: Date };

function enterStatus(state: StreamState, to: StreamStatus, told: ReportContext): StreamState {
  if (to === 'ready') return ready(state, told);
  if (to === 'failed')
    return {
      ...state,
      stream_status: 'failed',
      failure: told.report.failure ?? state.failure ?? UNEXPLAINED,
    };
  return { ...state, stream_status: to };
}

function ready(state: StreamState, { report, now }: ReportContext): StreamState {
  const playback = toReadyManifest(state.playback, report.playback, state.attempt);
  const known = isFinalAnswer(report)
    ? state.warnings.filter(({ code }) => code !== INCOMPLETE.code)
    : state.warnings;
  return {
    ...state,
    stream_status: 'ready',
    progress: 100,
    failure: null,
    playback,
    warnings: withWarnings(known, report.warnings ?? []),
    playable_at: state.playable_at ?? (playback ? now : null),
    completed_at: state.completed_at ?? (report.complete === false ? null : now),
    width: report.picture?.width ?? state.width,
    height: report.picture?.height ?? state.height,
    duration_ms: report.picture?.durationMs ?? state.duration_ms,
    placeholder: report.picture?.placeholder ?? state.placeholder,
  };
}

/** Only a failure after `ready` leaves a trace: what plays keeps playing. */
const applyLateReport = (state: StreamState, report: StreamReport): StreamState =>
  report.event === 'failed' && state.stream_status === 'ready'
    ? { ...state, warnings: withWarnings(state.warnings, [INCOMPLETE]) }
    : state;

const UNEXPLAINED: Failure = {
  code: 'encode_failed',
  message: 'The provider could not encode this video',
  retryable: true,
};
const INCOMPLETE: Warning = {
  code: 'encoding_incomplete',
  message: 'The provider reported a failure after the video was ready: some renditions may be missing',
};

const withWarnings = (known: readonly Warning[], more: readonly Warning[]): readonly Warning[] => [
  ...known,
  ...more.filter((warning) => !known.some(({ code }) => code === warning.code)),
];
