// What the functions of the library need.
import type { Guards } from '../assets/asset-guards.hook.ts';
import type { Asset } from '../assets/asset.ts';
import type { AssetViewContext } from '../assets/asset-view.ts';
import type { Secret } from '../auth/secret.ts';
import type { Config } from '../config.ts';
import type { JobRequest, ServiceJobs } from '../jobs.ts';
import type { Lifecycle } from '../lifecycle/feature.ts';
import type { HeldRequests } from '../platform/concurrency/held-requests.ts';
import type { AsOperator } from '../platform/http/route.ts';
import type { Clocks } from '../platform/postgres/database-clock.ts';
import type { Database } from '../platform/postgres/database.ts';
import type { Usage } from '../usage/feature.ts';

export type LibraryContext = {
  readonly settings: Pick<Config, 'trashDays' | 'countryHeader' | 'sortedListMaxAssets'> & {
    readonly delivery: Pick<Config['delivery'], 'cdnBaseUrl' | 'purgeUrl'>;
  };
  readonly db: Database;
  readonly jobs: Pick<ServiceJobs, 'hasOpenJob'>;
  readonly clocks: Clocks;
  /** Sign the cursors of lists. */
  readonly urlSecrets: readonly Secret[];
  readonly lifecycle: Pick<
    Lifecycle,
    | 'findAssetById'
    | 'findAssetForCaller'
    | 'findTrashedAssetForCaller'
    | 'update'
    | 'assetStore'
    | 'copyFile'
    | 'removeFileCopies'
    | 'findReplacement'
    | 'watchAsset'
  >;
  readonly usage: Pick<Usage, 'underQuota'>;
  readonly providers: {
    /** A hosted provider chooses the thumbnails of its videos itself. */
    readonly isHosted: (asset: Asset) => boolean;
    /** True if players get signed URLs of the asset's video, once it demands them. */
    readonly canSign: (asset: Asset) => boolean;
    /** The job that processes an uploaded asset. */
    readonly startJob: (asset: Asset) => JobRequest | undefined;
  };
  readonly view: AssetViewContext;
  readonly guards: Guards;
  readonly asOperator: AsOperator;
  /** What one caller may hold, and how often an owner may ask. */
  readonly callerLimits: {
    readonly heldRequests: HeldRequests;
    /** Throws RATE_LIMITED when the owner sends too many requests. */
    readonly limitOwner: (ownerUserId: string) => Promise<void>;
  };
};
