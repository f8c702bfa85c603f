// What the wings are created from, those that all others know, and what their requests and jobs share.
import packageJson from '../../package.json' with { type: 'json' };
import type { Adapters } from './adapters.ts';
import type { Config } from './config.ts';
import type { Logger } from './platform/observability/logger.ts';
import type { Clocks } from './platform/postgres/database-clock.ts';
import { assetGuards } from './assets/asset-guards.hook.ts';
import { createAuth } from './auth/feature.ts';
import { createCaptions } from './captions/feature.ts';
import { createEncoding } from './encoding/feature.ts';
import { createLifecycle } from './lifecycle/feature.ts';
import { createHeldRequests } from './platform/concurrency/held-requests.ts';
import { freeBytes } from './platform/disk/free-space.ts';
import { type Limiters, limitOwner } from './platform/http/limits/rate-limit.ts';
import { deleteAbandonedScratchFolders } from './platform/process/scratch-folder.ts';
import {
  openScratchReservations,
  type ScratchReservations,
} from './platform/process/scratch-reservations.ts';
import { createProviders } from './providers/feature.ts';
import { createStorage } from './storage/feature.ts';
import { createUsage } from './usage/feature.ts';

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

export type AppBase = ReturnType<typeof createBase>;

export function createBase(app: AppContext, limiters: Limiters) {
  const { publicBaseUrl, isStopping } = app;
  const { metrics } = app.adapters;
  const service = { version: VERSION, publicBaseUrl, isStopping, metrics };
  const lifecycle = openLifecycle(app);
  const { store, scratchRoot } = app.adapters;
  const storage = createStorage({ settings: app.config, store, scratchRoot });
  const auth = openAuth(app);
  const { asOperator, asOperatorBytes } = auth.operations;
  const guards = assetGuards({ lifecycle: lifecycle.operations, auth: auth.operations });
  const usage = createUsage({ db: app.adapters.db, urlSecrets: app.adapters.urlSecrets, guards, asOperator });
  const captions = createCaptions({
    store,
    now: app.clocks.now,
    log: app.log,
    lifecycle: lifecycle.operations,
    usage: usage.operations,
    guards,
    objects: storage.operations,
  });
  const providers = openProviders(app, { service, lifecycle: lifecycle.operations, asOperator });
  const limits = openLimits(app, limiters);
  const encoding = openEncoding(app, {
    scratchReservations: limits.scratchReservations,
    storage,
    lifecycle: lifecycle.operations,
    captions: captions.operations,
    providers: providers.operations,
    asOperator,
  });
  return {
    lifecycle,
    storage,
    auth,
    usage,
    captions,
    providers,
    encoding,
    asOperator,
    asOperatorBytes,
    service,
    guards,
    view: openView(app, providers, encoding),
    ...limits,
  };
}

/** What representations of assets depend on besides their rows. */
const openView = (
  { config, publicBaseUrl }: AppContext,
  { operations: { findHostedPlayback, canRetry } }: ReturnType<typeof createProviders>,
  encoding: ReturnType<typeof createEncoding>,
) => ({
  playbackBaseUrl: () => config.delivery.cdnBaseUrl ?? publicBaseUrl(),
  findHostedPlayback,
  canRetry,
  segmentEncryption: config.delivery.segmentEncryption,
  expectedTimes: encoding.operations.expectedTimes,
});

const openLifecycle = ({ config, log, clocks, adapters }: AppContext) =>
  createLifecycle({
    settings: config,
    db: adapters.db,
    store: adapters.store,
    jobs: adapters.jobs,
    notifications: adapters.notifications,
    log,
    metrics: adapters.metrics,
    now: clocks.now,
  });

const openAuth = ({ config, log, clocks, publicBaseUrl, adapters }: AppContext) =>
  createAuth({
    settings: config,
    db: adapters.db,
    log,
    now: clocks.now,
    urlSecrets: adapters.urlSecrets,
    issuerKeys: adapters.issuerKeys,
    publicBaseUrl,
  });

type Known = Pick<Parameters<typeof createProviders>[0], 'service' | 'lifecycle' | 'asOperator'>;

const openProviders = ({ config, log, clocks, adapters }: AppContext, known: Known) =>
  createProviders({
    settings: config,
    service: known.service,
    db: adapters.db,
    store: adapters.store,
    jobs: adapters.jobs,
    log,
    clocks,
    urlSecrets: adapters.urlSecrets,
    registry: adapters.providers,
    lifecycle: known.lifecycle,
    asOperator: known.asOperator,
  });

type Lower = Pick<Parameters<typeof createEncoding>[0], 'lifecycle' | 'captions' | 'asOperator'> & {
  readonly scratchReservations: ScratchReservations;
  readonly storage: ReturnType<typeof createStorage>;
  readonly providers: Parameters<typeof createEncoding>[1];
};

/** Here, because all wings show assets with their expected times. */
const openEncoding = ({ config, log, clocks, adapters }: AppContext, lower: Lower) =>
  createEncoding(
    {
      settings: config,
      db: adapters.db,
      store: adapters.store,
      jobs: adapters.jobs,
      encoder: adapters.encoder,
      callback: adapters.callback,
      log,
      now: clocks.now,
      worker: {
        name: adapters.workerName,
        scratchRoot: adapters.scratchRoot,
        scratchReservations: lower.scratchReservations,
        findLocalFile: lower.storage.operations.findLocalFile,
      },
      lifecycle: lower.lifecycle,
      captions: lower.captions,
      asOperator: lower.asOperator,
    },
    lower.providers,
  );

/** What one owner, caller or job may hold of this process. */
const openLimits = ({ config, adapters: { scratchRoot } }: AppContext, limiters: Limiters) => ({
  limitOwner: (owner: string) => limitOwner(limiters.owner, owner),
  heldRequests: createHeldRequests({
    total: config.streamLimits.maxStreams,
    perCaller: config.streamLimits.maxStreamsPerCaller,
  }),
  scratchReservations: openScratchReservations({
    minFreeBytes: config.minFreeBytes,
    freeBytes: () => freeBytes(scratchRoot),
    deleteAbandoned: () => deleteAbandonedScratchFolders(scratchRoot),
  }),
});
