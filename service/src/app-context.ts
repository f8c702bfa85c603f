// What the wings are created from: the adapters of this process, and its settings, log and clocks.
import packageJson from '../../package.json' with { type: 'json' };
import type { Adapters } from './adapters.ts';
import type { Config } from './config.ts';
import type { Logger } from './platform/observability/logger.ts';
import type { Clocks } from './platform/postgres/database-clock.ts';

export const VERSION = packageJson.version;

export type AppContext = {
  readonly adapters: Omit<Adapters, 'close'>;
  readonly config: Config;
  /** Identifies this start of the process, in its log and in the list of workers. */
  readonly instance: string;
  /** Without a trailing slash. Available when the server listens, because the port may be chosen then. */
  readonly publicBaseUrl: () => string;
  readonly log: Logger;
  readonly clocks: Clocks;
  /** True from the signal to stop until the process ends. */
  readonly isStopping: () => boolean;
  /** Interval of the timeout checks of connections; default 1 s. */
  readonly checkEveryMs?: number | undefined;
  /** The built site of the documents; default: where the build writes it. */
  readonly guidesFolder?: string | undefined;
};
