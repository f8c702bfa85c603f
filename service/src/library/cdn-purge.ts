// Decides when the operator's CDN has to drop its copies of an asset's files (contract B5).
import type { PurgeReason } from '@mediary/contract/enums';
import type { Asset } from '../assets/asset.ts';
import { toPlaybackBase } from '../assets/asset-view.ts';
import type { JobRequest } from '../jobs.ts';
import type { LibraryContext } from './context.ts';

/** `now`: when the asset changes. */
type PurgeRequest = { readonly reason: PurgeReason; readonly now: Date };

/**
 * Other processes may serve the old state for a second: a CDN that is purged earlier could fetch it again.
 */
const DELAY_MS = 2000;

/**
 * The jobs of a change that raises the playback version; `seen` is the asset before it. The URL is part of
 * the job, because the worker that runs it may have another base URL.
 */
export function toCdnPurges(
  { settings: { delivery }, view }: Pick<LibraryContext, 'settings' | 'view'>,
  seen: Asset,
  { reason, now }: PurgeRequest,
): JobRequest[] {
  const hasCdn = delivery.cdnBaseUrl !== undefined || delivery.purgeUrl !== undefined;
  if (!hasCdn || !seen.playback) return [];
  const payload = {
    assetId: seen.id,
    playbackVersion: seen.playback_version + 1,
    reason,
    prefix: `${toPlaybackBase(view.playbackBaseUrl(), seen.id)}/`,
  };
  return [{ name: 'purge-cdn', startAfter: new Date(now.getTime() + DELAY_MS), payload }];
}
