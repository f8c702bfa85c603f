// What every feature is built from: the opened adapters, the settings, and the clock.
import type { Adapters } from './adapters.ts';
import type { Config } from './config.ts';
import type { Logger } from './platform/logger.ts';

export type AppSettings = {
  readonly config: Config;
  /** Without a slash at its end; known once the listener has its port. */
  readonly publicBaseUrl: () => string;
  readonly log: Logger;
  readonly now: () => Date;
  /** How often connections are checked against their timeouts; undefined: every second. */
  readonly checkEveryMs?: number | undefined;
};

export type AppContext = Omit<Adapters, 'close'> & AppSettings;
