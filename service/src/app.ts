// Composition root: creates the features in order and collects their routes and jobs.
import type { Adapters } from './adapters.ts';
import { type AppContext, type AppSettings, VERSION } from './app-context.ts';
import { assetGuards } from './assets/asset-guards.hook.ts';
import { createAuth } from './auth/feature.ts';
import { createCaptions } from './captions/feature.ts';
import { createEncoding } from './encoding/feature.ts';
import { createEvents } from './events/feature.ts';
import { createImages } from './images/feature.ts';
import type { JobPayloads } from './jobs.ts';
import { createLibrary } from './library/feature.ts';
import { createLifecycle } from './lifecycle/feature.ts';
import { createOperations } from './operations/feature.ts';
import { operatorGuard } from './operations/operator.hook.ts';
import { createHeldRequests } from './platform/concurrency/held-requests.ts';
import { type Limiters, limitOwner, openLimiters } from './platform/http/limits/rate-limit.ts';
import { freeBytes } from './platform/disk/free-space.ts';
import type { HttpServer } from './platform/http/server.ts';
import type { JobHandlers } from './platform/jobs/job-queue.ts';
import { deleteAbandonedScratchFolders } from './platform/process/scratch-folder.ts';
import { openScratchReservations } from './platform/process/scratch-reservations.ts';
import { createPlayback } from './playback/feature.ts';
import { createProviders } from './providers/feature.ts';
import { createStorage } from './storage/feature.ts';
import { createUpkeep } from './upkeep/feature.ts';
import { createUploads } from './uploads/feature.ts';
import { createUsage } from './usage/feature.ts';

export type App = Awaited<ReturnType<typeof buildApp>>;

export async function buildApp(adapters: Adapters, settings: AppSettings) {
  const context = { ...adapters, ...settings };
  const limiters = openLimiters(context, context.config);
  const features = createFeatures(context, (owner) => limitOwner(limiters.owner, owner));
  await features.events.operations.preparePositions();
  const { config } = context;
  if (config.role !== 'worker') await features.usage.operations.recordDefaultLimits(config.ownerLimits);
  const { providers, uploads } = features;
  const handlers = {
    ...providers.jobs,
    ...features.library.jobs,
    ...features.encoding.jobs,
    ...features.images.jobs,
    ...uploads.jobs,
    ...features.upkeep.jobs,
  };
  return {
    ...(await buildServers(context, features, limiters)),
    handlers: handlers satisfies JobHandlers<JobPayloads>,
    /** Ends requests that wait for events. */
    endStreams: () => {
      features.events.operations.endStreams();
      features.lifecycle.operations.closeWatches();
    },
    startDeliverySender: features.events.operations.startDeliverySender,
    uploadsSettled: uploads.operations.uploadsSettled,
    lanes: providers.operations.listServedProviders(),
    startHeartbeat: () =>
      providers.operations.startHeartbeat({
        roles: config.role === 'all' ? ['api', 'worker'] : ['worker'],
        version: VERSION,
        videoEncoder: adapters.videoEncoder,
      }),
  };
}

type Servers = { readonly server?: HttpServer; readonly healthServer?: HttpServer };

/** A worker serves at most its health checks. One that serves nothing does not load the HTTP server. */
async function buildServers(
  context: AppContext,
  features: ReturnType<typeof createFeatures>,
  limiters: Limiters,
): Promise<Servers> {
  const { role, healthPort } = context.config;
  if (role === 'worker' && healthPort === undefined) return {};
  const { buildHealthServer, buildServer } = await import('./app-server.ts');
  const { providers, playback, operations } = features;
  if (role === 'worker')
    return { healthServer: buildHealthServer(context, operations.operations.healthRoutes) };
  return {
    server: await buildServer(context, {
      routes: Object.values(features).flatMap(({ routes }) => routes),
      webhookOperations: providers.operations.webhookOperations,
      findCachedResponse: playback.operations.findCachedSegment,
      limiters,
    }),
  };
}

const holdRequests = ({ maxStreams, maxStreamsPerCaller }: AppContext['config']['streamLimits']) =>
  createHeldRequests({ total: maxStreams, perCaller: maxStreamsPerCaller });

const shareScratchFolder = ({ scratchRoot, config: { minFreeBytes } }: AppContext) =>
  openScratchReservations({
    minFreeBytes,
    freeBytes: () => freeBytes(scratchRoot),
    deleteAbandoned: () => deleteAbandonedScratchFolders(scratchRoot),
  });

/** This process as the worker of encodes. */
const toWorker = ({
  workerName: name,
  scratchRoot,
  scratchReservations,
  files: { findLocalFile },
}: ReturnType<typeof createFoundation>['shared']) => ({
  name,
  scratchRoot,
  scratchReservations,
  findLocalFile,
});

const describeMachine = ({ sandbox, imageProcessor, locations, ...found }: AppContext) => ({
  encoderVersion: found.encoderVersion,
  encoderMissing: found.encoderMissing,
  videoEncoder: found.videoEncoder,
  canDecodeHeif: imageProcessor.canDecodeHeif,
  protections: sandbox.protections,
  storeFolder: locations.store,
});

/** What representations of assets depend on besides their rows. */
const toViewContext = (
  { config: { delivery }, publicBaseUrl }: AppContext,
  { findHostedPlayback, canRetry }: ReturnType<typeof createProviders>['operations'],
) => ({
  playbackBaseUrl: () => delivery.cdnBaseUrl ?? publicBaseUrl(),
  findHostedPlayback,
  canRetry,
  segmentEncryption: delivery.segmentEncryption,
});

const toPlaybackSettings = ({ config, locations, ...found }: AppContext) => ({
  ...config,
  framesPerMinute: config.decoders.framesPerMinute,
  urlSecrets: found.urlSecrets,
  publicBaseUrl: found.publicBaseUrl,
  storeFolder: locations.store,
  scratchRoot: found.scratchRoot,
  encoderMissing: found.encoderMissing,
});

/** What most wings take: the first wings, and what is made of them. */
function createFoundation(context: AppContext, limitOwner: (owner: string) => Promise<void>) {
  const { config, now, databaseNow } = context;
  const lifecycle = createLifecycle({ ...context, settings: config });
  const storage = createStorage({ ...context, settings: config });
  const asOperator = operatorGuard(config.operatorKeys);
  const auth = createAuth({ ...context, settings: config, asOperator });
  const shared = {
    ...context,
    ...auth.operations,
    settings: config,
    service: { version: VERSION, publicBaseUrl: context.publicBaseUrl, isStopping: context.isStopping },
    clocks: { now, databaseNow },
    auth: auth.operations,
    lifecycle: lifecycle.operations,
    guards: assetGuards({ lifecycle: lifecycle.operations, auth: auth.operations }),
    objects: storage.operations,
    files: storage.operations,
    storage: storage.operations,
    asOperator,
    limitOwner,
    heldRequests: holdRequests(config.streamLimits),
    scratchReservations: shareScratchFolder(context),
  };
  return { lifecycle, storage, auth, shared };
}

function createFeatures(context: AppContext, limitOwner: (owner: string) => Promise<void>) {
  const { lifecycle, storage, auth, shared } = createFoundation(context, limitOwner);
  const usage = createUsage(shared);
  const captions = createCaptions({ ...shared, usage: usage.operations });
  const providers = createProviders({ ...shared, registry: context.providers });
  const view = toViewContext(context, providers.operations);
  const known = { ...shared, usage: usage.operations, hosted: providers.operations, view };
  const library = createLibrary({ ...known, providers: providers.operations });
  const uploads = createUploads(known);
  const playback = createPlayback({
    ...known,
    settings: toPlaybackSettings(context),
    providers: providers.operations,
  });
  const events = createEvents({
    ...known,
    callerLimits: { heldRequests: shared.heldRequests, limitOwner },
  });
  const encoding = createEncoding({ ...known, captions: captions.operations, worker: toWorker(shared) });
  return {
    auth,
    lifecycle,
    storage,
    usage,
    captions,
    providers,
    library,
    encoding,
    images: createImages({ ...known, playback: playback.operations }),
    uploads,
    playback,
    events,
    upkeep: createUpkeep({
      ...known,
      encoding: encoding.operations,
      providers: providers.operations,
      uploads: uploads.operations,
      events: events.operations,
    }),
    operations: createOperations({
      ...known,
      machine: describeMachine(context),
      providers: providers.operations,
    }),
  };
}
