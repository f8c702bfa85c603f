// Decides when the operator's CDN has to drop its copies of an asset's files (contract B5).
import type { PurgeReason } from '@mediary/contract/enums';
import type { Asset } from '../assets/asset.ts';
import { toPlaybackBase } from '../assets/asset-view.ts';
import type { JobRequest } from '../jobs.ts';

type PurgeRequest = { readonly reason: PurgeReason; readonly now: Date };

/** The jobs of a change that raises the playback version; `seen` is the asset before it. */
export type RequestPurges = (seen: Asset, request: PurgeRequest) => JobRequest[];

type PurgeNeeds = {
  /** False where no CDN is known. */
  readonly hasCdn: boolean;
  readonly playbackBaseUrl: () => string;
};

/**
 * Other processes may serve the old state for a second: a CDN that is purged earlier could fetch it again.
 */
const DELAY_MS = 2000;

/** The URL is part of the job, because the worker that runs it may have another base URL. */
export const cdnPurges =
  ({ hasCdn, playbackBaseUrl }: PurgeNeeds): RequestPurges =>
  (seen, { reason, now }) =>
    hasCdn && seen.playback
      ? [
          {
            name: 'purge-cdn',
            startAfter: new Date(now.getTime() + DELAY_MS),
            payload: {
              assetId: seen.id,
              playbackVersion: seen.playback_version + 1,
              reason,
              prefix: `${toPlaybackBase(playbackBaseUrl(), seen.id)}/`,
            },
          },
        ]
      : [];
