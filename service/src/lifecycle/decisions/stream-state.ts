// The columns of an asset that reports and commands change, and how an attempt starts.
import { FILE_WARNING_CODES } from '@mediary/contract/failures';
import type { Asset, Warning } from '../../assets/asset.ts';
import type { EventData } from '../../assets/asset-event.ts';
import { isGrowing } from '../../assets/playback-manifest.ts';
import { assetRow, pick } from '../../tables.ts';
import { firstReconcileAt } from './reconcile-schedule.ts';

/** The columns that reports, completions and the reconcile job change. */
const streamStateColumns = pick(assetRow, [
  'stream_status',
  'attempt',
  'progress',
  'renditions',
  'warnings',
  'failure',
  'refused',
  'playback',
  'playable_at',
  'ready_at',
  'size_bytes',
  'width',
  'height',
  'duration_ms',
  'placeholder',
  'media',
  'chapters',
  'encode_run',
  'encoded_run',
  'encode_interruptions',
  'uploaded_at',
  'settled',
  'reconcile_at',
]);

export type StreamState = Pick<Asset, keyof typeof streamStateColumns>;

/**
 * The state at the start of an attempt on the same file. The previous playback stays until the new attempt is
 * ready.
 */
export function openAttempt(asset: Asset, attempt: number): StreamState {
  return {
    ...toStreamState(asset),
    ...withdrawGrowing(asset),
    attempt,
    stream_status: 'processing',
    progress: 0,
    renditions: [],
    warnings: asset.warnings.filter(({ code }) => Object.hasOwn(FILE_WARNING_CODES, code)),
    failure: null,
    refused: false,
    ready_at: null,
    encode_run: 0,
    encoded_run: 0,
    encode_interruptions: 0,
    settled: false,
  };
}

/** After an attempt without success, a part of the video does not stay playable. */
export const withdrawGrowing = ({
  playback,
  playable_at,
}: Pick<StreamState, 'playback' | 'playable_at'>): Pick<StreamState, 'playback' | 'playable_at'> =>
  isGrowing(playback) ? { playback: null, playable_at: null } : { playback, playable_at };

/** If two warnings have the same code, the first one stays. */
export const withWarnings = (known: readonly Warning[], added: readonly Warning[]): readonly Warning[] => [
  ...known,
  ...added.filter((warning) => !known.some(({ code }) => code === warning.code)),
];

/** Sets the time of the next check if the status, attempt, warnings or `settled` change. */
export function withReconcileTime(asset: Asset, next: StreamState, now: Date): StreamState {
  const isChanged =
    asset.stream_status !== next.stream_status ||
    asset.attempt !== next.attempt ||
    asset.warnings.length !== next.warnings.length ||
    asset.settled !== next.settled;
  return isChanged ? { ...next, reconcile_at: firstReconcileAt({ ...asset, ...next }, now) } : next;
}

/** For the timeline: when the reconcile job checks the asset next. */
export const toCheckData = ({ reconcile_at }: Pick<StreamState, 'reconcile_at'>): EventData =>
  reconcile_at ? { next_check_at: reconcile_at.toISOString() } : {};

const STATE_COLUMNS = Object.keys(streamStateColumns) as (keyof StreamState)[];

export const toStreamState = (asset: Asset): StreamState => pick(asset, STATE_COLUMNS);
