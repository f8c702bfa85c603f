// The part of an asset that reports and completions change, and how an attempt begins.
import type { Asset } from '../assets/asset.ts';
import type { EventData } from '../assets/asset-event.ts';
import { pick, streamStateColumns } from '../tables.ts';
import { firstReconcileAt } from './reconcile-schedule.ts';

export type StreamState = Pick<Asset, keyof typeof streamStateColumns>;

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
    settled: false,
  };
}

/** A move, or a trace of trouble, sets anew when the sweep looks. */
export function withReconcileTime(asset: Asset, next: StreamState, now: Date): StreamState {
  const isMoved =
    asset.stream_status !== next.stream_status ||
    asset.attempt !== next.attempt ||
    asset.warnings.length !== next.warnings.length;
  return isMoved || asset.settled !== next.settled
    ? { ...next, reconcile_at: firstReconcileAt({ ...asset, ...next }, now) }
    : next;
}

export const toCheckData = ({ reconcile_at }: StreamState): EventData =>
  reconcile_at ? { next_check_at: reconcile_at.toISOString() } : {};

const STATE_COLUMNS = Object.keys(streamStateColumns) as (keyof StreamState)[];

export const stateOf = (asset: Asset): StreamState => pick(asset, STATE_COLUMNS);
