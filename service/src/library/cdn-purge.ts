// Decides when the operator's CDN has to drop its copies of an asset's files (contract B5).
import type { PurgeReason } from '@mediary/contract/enums';
import type { Asset } from '../assets/asset.ts';
import { toPlaybackBase } from '../assets/asset-view.ts';
import type { JobRequest } from '../jobs.ts';

/** The jobs of a change that raises the playback version; `seen` is the asset before it. */
export type RequestPurges = (seen: Asset, reason: PurgeReason) => JobRequest[];

type PurgeNeeds = {
  /** False where no CDN is known. */
  readonly hasCdn: boolean;
  readonly playbackBaseUrl: () => string;
};

/** The URL is part of the job, because the worker that runs it may have another base URL. */
export const cdnPurges =
  ({ hasCdn, playbackBaseUrl }: PurgeNeeds): RequestPurges =>
  (seen, reason) =>
    hasCdn && seen.playback
      ? [
          {
            name: 'purge-cdn',
            payload: {
              assetId: seen.id,
              playbackVersion: seen.playback_version + 1,
              reason,
              prefix: `${toPlaybackBase(playbackBaseUrl(), seen.id)}/`,
            },
          },
        ]
      : [];
