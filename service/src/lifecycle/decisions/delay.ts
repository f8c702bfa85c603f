// Announces once for each attempt that an asset is not ready when it was expected.
import { DELAY_REASONS, type DelayReason } from '@mediary/contract/enums';
import type { Asset } from '../../assets/asset.ts';
import { type EventData, newEvent } from '../../assets/asset-event.ts';
import type { AssetChange } from './change.ts';

export type Delay = {
  readonly reason: DelayReason;
  /** The end of the range that callers saw first; absent where none was stated. */
  readonly expectedLatestAt?: Date | undefined;
};

/** Undefined if the attempt is over, or was announced as delayed before. */
export function decideDelay(
  asset: Asset,
  { reason, expectedLatestAt }: Delay,
): Pick<AssetChange, 'set' | 'events'> | undefined {
  if (asset.stream_status !== 'processing' || asset.delayed_attempt >= asset.attempt) return undefined;
  const data: EventData = {
    attempt: asset.attempt,
    source: 'reconcile',
    reason,
    message: DELAY_REASONS[reason],
    ...(expectedLatestAt && { expected_latest_at: expectedLatestAt.toISOString() }),
  };
  return { set: { delayed_attempt: asset.attempt }, events: [newEvent('asset.delayed', data)] };
}
