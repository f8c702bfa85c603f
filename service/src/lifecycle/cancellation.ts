// What an operator's cancel does to an asset that is being encoded: failed, final for its attempt, open to a retry.
import type { Asset, Failure } from '../assets/asset.ts';
import { newEvent } from '../assets/asset-event.ts';
import type { Change } from './change.ts';

export const CANCELLED: Failure = {
  code: 'cancelled',
  message:
    'An operator cancelled the encoding of this video. Call POST /api/v1/media/{id}/retry to encode it again.',
  retryable: true,
};

export const isCancelled = ({ stream_status, failure }: Asset): boolean =>
  stream_status === 'failed' && failure?.code === CANCELLED.code;

/** Whether our encoder has the video, or will have it. Once its files are stored, only their report is on its way. */
const isCancellable = ({ provider, stream_status, uploaded_at, encoded_try }: Asset): boolean =>
  provider === 'onprem' && stream_status === 'processing' && uploaded_at !== null && encoded_try === 0;

/** Undefined where nothing is being encoded. `settled`: reports of the attempt change nothing any more. */
export function cancelled(asset: Asset): Change | undefined {
  if (!isCancellable(asset)) return undefined;
  return {
    set: { stream_status: 'failed', failure: CANCELLED, settled: true, reconcile_at: null },
    events: [newEvent('asset.failed', { attempt: asset.attempt, source: 'operator', code: CANCELLED.code })],
    jobs: [],
  };
}
