// What the functions of collections need.
import type { AssetViewContext } from '../assets/asset-view.ts';
import type { Auth } from '../auth/feature.ts';
import type { Secret } from '../auth/secret.ts';
import type { Config } from '../config.ts';
import type { Clocks } from '../platform/postgres/database-clock.ts';
import type { Database } from '../platform/postgres/database.ts';
import type { PlaybackOperations } from '../playback/feature.ts';

export type CollectionsContext = {
  readonly settings: Pick<Config, 'collectionLimits'>;
  readonly db: Database;
  readonly clocks: Clocks;
  /** Sign the cursors of lists. */
  readonly urlSecrets: readonly Secret[];
  readonly auth: Pick<Auth, 'callerOf'>;
  readonly playback: Pick<PlaybackOperations, 'getPlayback'>;
  readonly view: AssetViewContext;
};
