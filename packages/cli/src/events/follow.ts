// Follows an asset until it is ready or failed.
import { type Asset, AssetFailedError, formatExpectedTimes } from '@mediary/client';
import { describeStatus } from '../asset-text.ts';
import type { Client } from '../client.ts';
import type { Progress } from '../progress.ts';

type FollowOptions = {
  /** An asset, or its id. */
  readonly asset: Parameters<Client['mediary']['media']['waitUntilReady']>[0];
  readonly timeoutS: number | undefined;
  /** Called with the asset as it is, and after each change. */
  readonly onUpdate: (asset: Asset) => void;
};

/** Also returns an asset that failed; throws where it is not settled in time. */
export async function followAsset(
  { mediary, options }: Client,
  { asset, timeoutS, onUpdate }: FollowOptions,
): Promise<Asset> {
  try {
    return await mediary.media.waitUntilReady(asset, {
      signal: options.signal,
      ...(timeoutS !== undefined && { deadlineMs: timeoutS * 1000 }),
      onUpdate,
    });
  } catch (error) {
    if (error instanceof AssetFailedError) return error.asset;
    throw error;
  }
}

export function assertNotFailed(asset: Asset): void {
  if (asset.stream_status === 'failed') throw new AssetFailedError(asset);
}

/** Short, because it stands behind a bar. */
function describeEncoding(asset: Asset): string {
  const expected = formatExpectedTimes({ ...asset, expected_playable_at: null, expected_ready_range: null });
  return ['encoding', asset.playable_at && 'playable already', expected].filter(Boolean).join(', ');
}

export const showEncoding = (progress: Progress, asset: Asset): void =>
  asset.stream_status === 'processing'
    ? progress.percent(describeEncoding(asset), asset.progress)
    : progress.phase(describeStatus(asset));
