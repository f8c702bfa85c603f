// Decides what an operator's cancellation does to an asset that is being encoded: pure.
import type { Asset, Failure } from '../../assets/asset.ts';
import { newEvent } from '../../assets/asset-event.ts';
import type { AssetChange } from './change.ts';
import { withdrawGrowing } from './stream-state.ts';

export const CANCELLED: Failure = {
  code: 'cancelled',
  message:
    'An operator cancelled the encoding of this video. ' +
    'Call POST /api/v1/media/{id}/retry to encode it again.',
  retryable: true,
};

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
