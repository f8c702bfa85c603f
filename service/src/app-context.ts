// The dependencies of the features: adapters, settings, log, clock and version.
import packageJson from '../../package.json' with { type: 'json' };
import type { Adapters } from './adapters.ts';
import type { Config } from './config.ts';
import type { DatabaseNow } from './platform/postgres/database-clock.ts';
import type { Logger } from './platform/observability/logger.ts';

export const VERSION = packageJson.version;

export type AppSettings = {
  readonly config: Config;
  /** Without a trailing slash. Available when the server listens, because the port may be chosen then. */
  readonly publicBaseUrl: () => string;
  readonly log: Logger;
  readonly now: () => Date;
  /** Decides what jobs remove. */
  readonly databaseNow: DatabaseNow;
  /** True from the signal to stop until the process ends. */
  readonly isStopping: () => boolean;
  /** Interval of the timeout checks of connections; default 1 s. */
  readonly checkEveryMs?: number | undefined;
};

export type AppContext = Omit<Adapters, 'close'> & AppSettings;
