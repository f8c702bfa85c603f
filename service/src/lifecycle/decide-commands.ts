// Decides what completions, retries, refusals and the reconcile job do to an asset: pure, as decide.ts is.
import type { Asset, Failure } from '../assets/asset.ts';
import { type EventData, newEvent } from '../assets/asset-event.ts';
import { withPoster } from '../assets/playback-manifest.ts';
import { isPosterDue } from '../assets/poster.ts';
import type { StartJob } from '../jobs.ts';
import { type Change, patchOf } from './change.ts';
import { openAttempt, stateOf, type StreamState, toCheckData, withReconcileTime } from './stream-state.ts';
import { advance, type StreamEvent } from './transitions.ts';

/** `job` processes the bytes; undefined where a provider does it by itself. */
export type Completion = {
  readonly facts: Partial<Pick<StreamState, 'width' | 'height' | 'duration_ms'>>;
  readonly job?: StartJob | undefined;
  readonly note?: EventData;
};

/** The caller says that the bytes are there and the service found them good; undefined where that was said before. */
export function decideCompletion(
  asset: Asset,
  { facts, job, note = {} }: Completion,
  now: Date,
): Change | undefined {
  const to = advance(asset.stream_status, 'completed' satisfies StreamEvent);
  if (!to) return undefined;
  const next = withReconcileTime(asset, { ...stateOf(asset), ...facts, stream_status: to }, now);
  const data = { attempt: asset.attempt, source: 'caller', ...toCheckData(next), ...note };
  return { set: patchOf(asset, next), events: [newEvent('asset.processing', data)], jobs: job ? [job] : [] };
}

/** The service itself refuses the asset: final for its attempt. A job removes the bytes. */
export function decideRefusal(asset: Asset, failure: Failure): Change {
  return {
    set: { stream_status: 'failed', failure, refused: true, uploaded_at: null, reconcile_at: null },
    events: [newEvent('asset.failed', { attempt: asset.attempt, source: 'service', code: failure.code })],
    jobs: [{ name: 'purge-asset', payload: { assetId: asset.id } }],
  };
}

export type Retry = Pick<Completion, 'job' | 'note'>;

/** The caller wants another attempt after a failure; undefined where nothing failed. */
export function decideRetry(asset: Asset, { job, note = {} }: Retry, now: Date): Change | undefined {
  if (asset.stream_status !== 'failed') return undefined;
  const next = withReconcileTime(asset, openAttempt(asset, asset.attempt + 1), now);
  const data = { attempt: next.attempt, source: 'caller', ...toCheckData(next), ...note };
  return { set: patchOf(asset, next), events: [newEvent('asset.processing', data)], jobs: job ? [job] : [] };
}

/** `isStartedAgain`: whole files whose report was lost are made once more. */
export type CheckRecord = {
  readonly words: EventData;
  readonly checkAt: Date | null;
  readonly isStartedAgain?: boolean;
  readonly job?: StartJob | undefined;
};

/** The sweep looked and nothing moved: why, and when it looks again. */
export function decideCheck(
  asset: Asset,
  { words, checkAt, isStartedAgain = false, job }: CheckRecord,
): Change {
  const next = { ...stateOf(asset), ...(isStartedAgain && { encoded_try: 0 }), reconcile_at: checkAt };
  const data = { attempt: asset.attempt, source: 'reconcile', ...words, ...toCheckData(next) };
  return { set: patchOf(asset, next), events: [newEvent('asset.checked', data)], jobs: job ? [job] : [] };
}

/** The picture that `made` was to show is stored; undefined where another is wanted by now, or another run plays. */
export function decidePoster(asset: Asset, made: Asset): Change | undefined {
  const { playback, poster_time_ms: timeMs } = asset;
  if (playback?.kind !== 'own' || made.playback?.kind !== 'own' || playback.folder !== made.playback.folder)
    return undefined;
  if (timeMs !== made.poster_time_ms || !isPosterDue(asset)) return undefined;
  return {
    set: { playback: withPoster(playback, timeMs) },
    events: [newEvent('asset.updated', { attempt: asset.attempt, source: 'service', fields: ['playback'] })],
    jobs: [],
  };
}
