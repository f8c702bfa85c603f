// Decides what an operator's cancellation of an encode, an import or other work does to its asset: pure.
import type { Asset, Failure } from '../../assets/asset.ts';
import { newEvent } from '../../assets/asset-event.ts';
import type { AssetChange } from './change.ts';
import { decideRefusal } from './decide-commands.ts';
import { withdrawGrowing } from './stream-state.ts';

const toFailure = (work: string, again: string): Failure => ({
  code: 'cancelled',
  message: `An operator cancelled the ${work}. Call POST /api/v1/media/{id}/retry to ${again} again.`,
  retryable: true,
});

export const CANCELLED = toFailure('encoding of this video', 'encode it');
const CANCELLED_IMAGE = toFailure('processing of this image', 'process it');
const CANCELLED_IMPORT = toFailure('import of this file', 'import it');
const CANCELLED_CLIP = toFailure('cut of this clip', 'cut it');

export const isCancelled = ({ stream_status, failure }: Asset): boolean =>
  stream_status === 'failed' && failure?.code === CANCELLED.code;

/** Whether our encoder has work left on the video: once `encoded_run` is set, only the report is missing. */
const isCancellable = ({ provider, stream_status, uploaded_at, encoded_run }: Asset): boolean =>
  provider === 'onprem' && stream_status === 'processing' && uploaded_at !== null && encoded_run === 0;

/** Undefined if the asset is not being encoded. `settled`: later reports of the attempt change nothing. */
export function decideCancellation(asset: Asset): AssetChange | undefined {
  if (!isCancellable(asset)) return undefined;
  return {
    set: {
      ...withdrawGrowing(asset),
      stream_status: 'failed',
      failure: CANCELLED,
      settled: true,
      reconcile_at: null,
    },
    events: [newEvent('asset.failed', { attempt: asset.attempt, source: 'operator', code: CANCELLED.code })],
    jobs: [{ name: 'cancel-encoder-job', payload: { assetId: asset.id, attempt: asset.attempt } }],
  };
}

/** Undefined if the image is not being processed. A job that still runs changes nothing. */
export function decideImageCancellation({ kind, stream_status, attempt }: Asset): AssetChange | undefined {
  if (kind !== 'image' || stream_status !== 'processing') return undefined;
  return {
    set: { stream_status: 'failed', failure: CANCELLED_IMAGE, settled: true, reconcile_at: null },
    events: [toEvent(attempt, 'processing')],
    jobs: [],
  };
}

/** Undefined if the service does not get the bytes of this attempt. A job removes those that it has. */
export function decideBytesCancellation(asset: Asset, attempt: number): AssetChange | undefined {
  if (asset.stream_status !== 'pending_upload' || asset.attempt !== attempt) return undefined;
  const isClip = asset.clip_of !== null;
  const refusal = decideRefusal(asset, isClip ? CANCELLED_CLIP : CANCELLED_IMPORT);
  return { ...refusal, events: [toEvent(attempt, isClip ? 'cut' : 'import')] };
}

/** `work`: what was cancelled, if not the encoding of a video. */
const toEvent = (attempt: number, work: string) =>
  newEvent('asset.failed', { attempt, source: 'operator', code: CANCELLED.code, work });
