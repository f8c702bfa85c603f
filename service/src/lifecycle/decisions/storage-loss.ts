// Decides what the loss of stored objects does to an asset: pure. Nothing here removes an object that exists.
import { FAILURE_CODES, WARNING_CODES } from '@mediary/contract/failures';
import type { Asset } from '../../assets/asset.ts';
import { newEvent } from '../../assets/asset-event.ts';
import type { JobRequest } from '../../jobs.ts';
import { captionKey } from '../../storage/object-key.ts';
import { type AssetChange, patchOf } from './change.ts';
import { openAttempt, toCheckData, withReconcileTime, withWarnings } from './stream-state.ts';

const CODE = 'original_missing';

/** `key`: the object of the captions. `job`: processes the original again. */
export type StorageLoss =
  | { readonly repair: 'warn' | 'fail' }
  | { readonly repair: 'process_again'; readonly job: JobRequest | undefined }
  | { readonly repair: 'drop_captions'; readonly key: string };

/** Undefined if the loss does not change the asset any more. */
export function decideLoss(asset: Asset, loss: StorageLoss, now: Date): AssetChange | undefined {
  if (loss.repair === 'drop_captions') return decideCaptions(asset, loss.key);
  if (loss.repair === 'process_again')
    return asset.stream_status === 'ready' ? decideNewAttempt(asset, loss.job, now) : undefined;
  return loss.repair === 'warn' ? decideWarning(asset) : decideFailure(asset);
}

function decideWarning(asset: Asset): AssetChange {
  const warnings = withWarnings(asset.warnings, [{ code: CODE, message: WARNING_CODES[CODE] }]);
  return { set: patchOf(asset, { warnings }), events: [updated(asset, 'warnings')], jobs: [] };
}

/** `settled`: later reports of the attempt change nothing. */
function decideFailure(asset: Asset): AssetChange {
  const failure = { code: CODE, message: FAILURE_CODES[CODE], retryable: false };
  const set = { stream_status: 'failed', failure, playback: null, playable_at: null } as const;
  return {
    set: patchOf(asset, { ...set, settled: true, reconcile_at: null }),
    events: [newEvent('asset.failed', { attempt: asset.attempt, source: 'operator', code: CODE })],
    jobs: [],
  };
}

function decideCaptions(asset: Asset, key: string): AssetChange {
  const captions = (asset.captions ?? []).filter(({ fileId }) => captionKey(asset.id, fileId) !== key);
  return {
    set: patchOf(asset, { captions: captions.length > 0 ? captions : null }),
    events: [updated(asset, 'captions')],
    jobs: [],
  };
}

function decideNewAttempt(asset: Asset, job: JobRequest | undefined, now: Date): AssetChange {
  const next = withReconcileTime(asset, openAttempt(asset, asset.attempt + 1), now);
  const data = { attempt: next.attempt, source: 'operator', ...toCheckData(next) };
  return { set: patchOf(asset, next), events: [newEvent('asset.processing', data)], jobs: job ? [job] : [] };
}

const updated = ({ attempt }: Asset, field: string) =>
  newEvent('asset.updated', { attempt, source: 'operator', fields: [field] });
