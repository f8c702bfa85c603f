// Decides what a report does to an asset: pure, so that every order and repetition of reports can be tried (contract B6).
import { isDeepStrictEqual } from 'node:util';
import type { streamStateColumns } from '../tables.ts';
import type { Asset, Failure, Warning } from '../assets/asset.ts';
import { type EventData, type EventType, type NewEvent, newEvent } from '../assets/asset-event.ts';
import type { Outcome } from './delivery.ts';
import { firstReconcileAt } from './reconcile-schedule.ts';
import { toReadyManifest, withPoster } from '../assets/playback-manifest.ts';
import { isPosterDue } from '../assets/poster.ts';
import { mergeRenditions } from '../assets/renditions.ts';
import type { Reason, StreamReport } from './stream-report.ts';
import { advance, type StreamEvent, type StreamStatus } from './transitions.ts';

/** The columns that a change may touch. */
export type StreamState = Pick<Asset, keyof typeof streamStateColumns>;

/** What one statement stores: the state as it will be, and the events that tell of it. */
export type Change = { readonly next: StreamState; readonly events: readonly NewEvent[] };
export type Decision = Outcome & { readonly change?: Change };

/** What becomes of the asset, and what the sender is told. */
export function decideReport(asset: Asset, report: StreamReport, now: Date): Decision {
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
  const seen = { ...withProgress(base, report), closed: base.closed || isLast };
  const next = withReconcileTime(
    asset,
    to ? enterStatus(seen, to, { report, now }) : applyLateReport(seen, report),
    now,
  );
  const change = isDeepStrictEqual(stateOf(asset), next)
    ? undefined
    : { next, events: eventsOf(asset, next, report) };
  const reason = to ? (change ? 'applied' : 'repeat') : 'late';
  return { processed: to !== undefined, reason, ...(change && { change }) };
}

const REPEAT: Decision = { processed: true, reason: 'repeat' };
const LATE: Decision = { processed: false, reason: 'late' };

/** Learned by asking the provider itself: taken as it is, whatever the table says, and the end of the attempt. */
const isFinalAnswer = ({ source, event, complete }: StreamReport): boolean =>
  source === 'inspect' && event !== 'started' && complete !== false;

/** After the provider's last word only its next one, or another attempt, changes anything. */
const isSettledFor = (asset: Asset, report: StreamReport): boolean =>
  asset.closed && (report.attempt ?? asset.attempt) === asset.attempt && !isFinalAnswer(report);

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

type Completing = {
  readonly facts: Partial<Pick<StreamState, 'width' | 'height' | 'duration_ms'>>;
  readonly note?: EventData;
  readonly now: Date;
};

/** The caller says that the bytes are there and the service found them good; undefined where that was said before. */
export function decideCompletion(asset: Asset, { facts, note = {}, now }: Completing): Change | undefined {
  const to = advance(asset.stream_status, 'completed' satisfies StreamEvent);
  if (!to) return undefined;
  const next = withReconcileTime(asset, { ...stateOf(asset), ...facts, stream_status: to }, now);
  return {
    next,
    events: [
      newEvent('asset.processing', {
        attempt: asset.attempt,
        source: 'caller',
        ...toCheckData(next),
        ...note,
      }),
    ],
  };
}

/** The service itself refuses the asset: final for its attempt; the bytes are gone for later ones too. */
export function decideRefusal(asset: Asset, failure: Failure): Change {
  return {
    next: {
      ...stateOf(asset),
      stream_status: 'failed',
      failure,
      refused: true,
      uploaded_at: null,
      check_at: null,
    },
    events: [newEvent('asset.failed', { attempt: asset.attempt, source: 'service', code: failure.code })],
  };
}

/** The caller wants another attempt after a failure; undefined where nothing failed. */
export function decideRetry(asset: Asset, note: EventData, now: Date): Change | undefined {
  if (asset.stream_status !== 'failed') return undefined;
  const next = withReconcileTime(asset, openAttempt(asset, asset.attempt + 1), now);
  return {
    next,
    events: [
      newEvent('asset.processing', {
        attempt: next.attempt,
        source: 'caller',
        ...toCheckData(next),
        ...note,
      }),
    ],
  };
}

/** `isStartedAgain`: whole files whose report was lost are made once more. */
export type CheckRecord = {
  readonly words: EventData;
  readonly checkAt: Date | null;
  readonly isStartedAgain?: boolean;
};

/** The sweep looked and nothing moved: why, and when it looks again. */
export function decideCheck(asset: Asset, { words, checkAt, isStartedAgain = false }: CheckRecord): Change {
  const next = { ...stateOf(asset), ...(isStartedAgain && { encoded_try: 0 }), check_at: checkAt };
  return {
    next,
    events: [
      newEvent('asset.checked', { attempt: asset.attempt, source: 'sweep', ...words, ...toCheckData(next) }),
    ],
  };
}

/** The picture that `made` was to show is stored; undefined where another is wanted by now, or another run plays. */
export function decidePoster(asset: Asset, made: Asset): Change | undefined {
  const { playback, poster_time_ms: timeMs } = asset;
  if (playback?.kind !== 'own' || made.playback?.kind !== 'own' || playback.folder !== made.playback.folder)
    return undefined;
  if (timeMs !== made.poster_time_ms || !isPosterDue(asset)) return undefined;
  return { next: { ...stateOf(asset), playback: withPoster(playback, timeMs) }, events: [] };
}

/** A move, or a trace of trouble, sets anew when the sweep looks. */
function withReconcileTime(asset: Asset, next: StreamState, now: Date): StreamState {
  const isMoved =
    asset.stream_status !== next.stream_status ||
    asset.attempt !== next.attempt ||
    asset.warnings.length !== next.warnings.length;
  return isMoved || asset.closed !== next.closed
    ? { ...next, check_at: firstReconcileAt({ ...asset, ...next }, now) }
    : next;
}

const toCheckData = ({ check_at }: StreamState): EventData =>
  check_at ? { next_check_at: check_at.toISOString() } : {};

/** A new attempt: what was playable keeps playing until the new one is ready. */
export function openAttempt(asset: Asset, attempt: number): StreamState {
  return {
    ...stateOf(asset),
    attempt,
    stream_status: 'processing',
    progress: 0,
    renditions: [],
    warnings: [],
    failure: null,
    refused: false,
    completed_at: null,
    encode_try: 0,
    encoded_try: 0,
    closed: false,
  };
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

const STATUS_EVENTS: Partial<Record<StreamStatus, EventType>> = {
  processing: 'asset.processing',
  ready: 'asset.ready',
  failed: 'asset.failed',
};

function eventsOf(before: Asset, next: StreamState, { source, providerCode }: StreamReport): NewEvent[] {
  const moved = before.stream_status !== next.stream_status || before.attempt !== next.attempt;
  const status = moved ? STATUS_EVENTS[next.stream_status] : undefined;
  const code = next.failure?.code;
  const data = {
    attempt: next.attempt,
    source,
    ...(code !== undefined && { code }),
    ...(providerCode !== undefined && { provider_code: providerCode }),
    ...toCheckData(next),
  };
  const playable = !before.playable_at && next.playable_at;
  return [
    ...(playable ? [newEvent('asset.playable', data)] : []),
    ...(status ? [newEvent(status, data)] : []),
  ];
}

export function stateOf(asset: Asset): StreamState {
  const {
    stream_status,
    attempt,
    progress,
    renditions,
    warnings,
    failure,
    refused,
    playback,
    playable_at,
    completed_at,
  } = asset;
  const { width, height, duration_ms, placeholder, encode_try, encoded_try, uploaded_at, closed, check_at } =
    asset;
  const { size_bytes, checksum_sha256, announced_size_bytes, announced_sha256 } = asset;
  const { upload_expires_at, provider_video_id } = asset;
  return {
    stream_status,
    attempt,
    progress,
    renditions,
    warnings,
    failure,
    refused,
    playback,
    playable_at,
    completed_at,
    width,
    height,
    duration_ms,
    placeholder,
    encode_try,
    encoded_try,
    uploaded_at,
    size_bytes,
    checksum_sha256,
    announced_size_bytes,
    announced_sha256,
    upload_expires_at,
    provider_video_id,
    closed,
    check_at,
  };
}
