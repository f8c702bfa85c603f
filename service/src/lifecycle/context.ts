// What the functions of the lifecycle need.
import type { AssetLoader } from '../assets/asset-lookup.ts';
import type { Config } from '../config.ts';
import type { ServiceJobs } from '../jobs.ts';
import type { Logger } from '../platform/observability/logger.ts';
import type { Metrics } from '../platform/observability/metrics.ts';
import type { Database } from '../platform/postgres/database.ts';
import type { Notifications } from '../platform/postgres/notifications.ts';
import type { ObjectStore } from '../storage/object-store.ts';
import type { PlaybackAssetCache } from './playback-asset-cache.ts';
import type { AssetStore } from './store.ts';

export type LifecycleContext = {
  readonly settings: Pick<Config, 'purgeGraceDays'>;
  readonly db: Database;
  readonly store: ObjectStore;
  readonly jobs: ServiceJobs;
  /** The ids of changed assets, of all processes. */
  readonly notifications: Notifications;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly now: () => Date;
  /** Reads assets, many at a time under load. */
  readonly loader: AssetLoader;
  readonly playbackAssets: PlaybackAssetCache;
  /** The one writer. */
  readonly assets: AssetStore;
};
