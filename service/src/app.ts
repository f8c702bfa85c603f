// The application: its servers, the handlers of its jobs, and what ends with it.
import { type AppContext, VERSION } from './app-base.ts';
import { createWings, type Wings } from './app-wings.ts';
import type { JobPayloads } from './jobs.ts';
import { freeBytes } from './platform/disk/free-space.ts';
import { type Limiters, openLimiters } from './platform/http/limits/rate-limit.ts';
import type { HttpServer } from './platform/http/server.ts';
import type { JobHandlers } from './platform/jobs/job-queue.ts';
import { type EndedRun, measureHandlers } from './platform/jobs/measured-handlers.ts';
import type { Logger } from './platform/observability/logger.ts';

export type App = Awaited<ReturnType<typeof buildApp>>;

export async function buildApp(app: AppContext) {
  const { config, log, adapters } = app;
  const limiters = openLimiters({ db: adapters.db, log }, config);
  const wings = createWings(app, limiters);
  const { events, lifecycle, providers, uploads, usage } = wings;
  await events.operations.preparePositions();
  if (config.role !== 'worker') await usage.operations.recordDefaultLimits(config.ownerLimits);
  return {
    ...(await buildServers(app, wings, limiters)),
    handlers: measureHandlers(toHandlers(wings), {
      metrics: adapters.metrics,
      onEnd: (run) => logEndedRun(log, run),
    }),
    storageChecks: wings.upkeep.operations,
    /** Ends requests that wait for events. */
    endStreams: () => {
      events.operations.endStreams();
      lifecycle.operations.closeWatches();
    },
    startSampler: wings.operations.operations.startSampler,
    startDeliverySender: events.operations.startDeliverySender,
    uploadsSettled: uploads.operations.uploadsSettled,
    createSignInLink: wings.auth.operations.createSignInLink,
    /** How this process runs jobs. */
    work: {
      providers: providers.operations.listServedProviders(),
      isNeeded: { ...wings.upkeep.isNeeded, ...wings.library.isNeeded },
    },
    startHeartbeat: () =>
      providers.operations.startHeartbeat({
        id: app.instance,
        roles: config.role === 'all' ? ['api', 'worker'] : [config.role],
        host: adapters.workerName,
        version: VERSION,
        videoEncoder: adapters.videoEncoder,
        encodeSlots: adapters.encodeSlots,
        protections: adapters.sandbox.protections,
        freeScratchBytes: () => freeBytes(adapters.scratchRoot),
        jobs: adapters.jobs.control,
      }),
  };
}

/** A failed run is no warning: its job is retried. */
function logEndedRun(log: Logger, { job, payload, result, seconds, error }: EndedRun): void {
  const { assetId } = payload as { readonly assetId?: string };
  const facts = {
    job,
    ...(assetId !== undefined && { asset_id: assetId }),
    result,
    seconds: Math.round(seconds * 1000) / 1000,
  };
  log.info(error === undefined ? facts : { ...facts, err: error }, 'job ended');
}

const toHandlers = ({
  providers,
  library,
  encoding,
  images,
  uploads,
  upkeep,
  owners,
  usage,
  operations,
}: Wings): JobHandlers<JobPayloads> => ({
  ...providers.jobs,
  ...library.jobs,
  ...encoding.jobs,
  ...images.jobs,
  ...uploads.jobs,
  ...upkeep.jobs,
  ...owners.jobs,
  ...usage.jobs,
  ...operations.jobs,
});

type Servers = { readonly server?: HttpServer; readonly healthServer?: HttpServer };

/** A process that serves nothing does not load the HTTP server. */
async function buildServers(app: AppContext, wings: Wings, limiters: Limiters): Promise<Servers> {
  const { role, healthPort } = app.config;
  if (role === 'worker' && healthPort === undefined) return {};
  const { buildHealthServer, buildServer } = await import('./app-server.ts');
  const { providers, playback, operations } = wings;
  const healthServer =
    healthPort === undefined
      ? {}
      : { healthServer: buildHealthServer(app, operations.operations.healthPortRoutes) };
  if (role === 'worker') return healthServer;
  return {
    ...healthServer,
    server: await buildServer(app, {
      routes: Object.values(wings).flatMap(({ routes }) => routes),
      webhookOperations: providers.operations.webhookOperations,
      findCachedResponse: playback.operations.findCachedSegment,
      console: operations.operations.console,
      limiters,
    }),
  };
}
