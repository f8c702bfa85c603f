// The table of contents: builds each feature from its parts, mounts its routes, names its jobs.
import type { Asset, NewAsset } from './assets/asset.ts';
import { assetBatches } from './lifecycle/asset-loader.ts';
import type { EventData } from './assets/asset-event.ts';
import * as editVerbs from './library/asset-edits.ts';
import * as listVerbs from './library/asset-list.ts';
import { assetListRoutes } from './library/asset-list.routes.ts';
import * as assetVerbs from './lifecycle/asset-lookup.ts';
import { assetRoutes } from './library/assets.routes.ts';
import { assetGuards } from './assets/asset-guards.hook.ts';
import * as reportVerbs from './lifecycle/reports.ts';
import * as trashVerbs from './library/trash.ts';
import { trashRoutes } from './library/trash.routes.ts';
import { createAuthenticator } from './auth/auth.hook.ts';
import type { Config } from './config.ts';
import { deliverReportJob } from './encoding/jobs/deliver-report.job.ts';
import { encodeAssetJob } from './encoding/jobs/encode-asset.job.ts';
import * as encodeQueueVerbs from './encoding/jobs/encode-queue.ts';
import { encodeQueueRoutes } from './encoding/jobs/encode-queue.routes.ts';
import * as encodingVerbs from './encoding/jobs/encode-runs.ts';
import { removeRunFilesJob } from './encoding/jobs/remove-run-files.job.ts';
import { makePosterJob } from './encoding/jobs/make-poster.job.ts';
import * as imageVerbs from './images/images.ts';
import { imageRoutes } from './images/images.routes.ts';
import { processImageJob } from './images/process-image.job.ts';
import * as feedVerbs from './events/feed.ts';
import { timelineRoutes } from './events/feed.routes.ts';
import type { JobPayloads, StartJob } from './jobs.ts';
import { mediaTypeOf } from './media/media-type.ts';
import * as overviewVerbs from './operations/providers-overview.ts';
import { providersOverviewRoutes } from './operations/providers-overview.routes.ts';
import * as healthVerbs from './operations/health.ts';
import { healthRoutes } from './operations/health.routes.ts';
import { ownerLimitsRoutes } from './operations/owner-limits.routes.ts';
import { isOperator, operatorGuard } from './operations/operator.hook.ts';
import type { Adapters } from './adapters.ts';
import { bind } from './platform/bind.ts';
import { limitAddresses, limitOwner, openLimiters } from './platform/http/rate-limit.ts';
import { describeApi, serveDocumentation } from './platform/http/documentation.ts';
import { allowOrigins } from './platform/http/cross-origin.ts';
import { mount } from './platform/http/mount.ts';
import { guardProtocol } from './platform/http/protocol-guards.ts';
import type { Input } from './platform/http/route.ts';
import { createServer, type HttpServer } from './platform/http/server.ts';
import { deleteExpiredKeys, createIdempotency } from './platform/idempotency.ts';
import { createFairQueue } from './platform/concurrency/fair-queue.ts';
import type { JobHandlers } from './platform/job-queue.ts';
import type { Logger } from './platform/logger.ts';
import { deleteFullBuckets } from './platform/rate-limiter.ts';
import { createSingleFlight } from './platform/concurrency/single-flight.ts';
import { createKeyedMutex } from './platform/concurrency/keyed-mutex.ts';
import * as downloadVerbs from './playback/downloads.ts';
import { downloadRoutes } from './playback/downloads.routes.ts';
import * as playbackVerbs from './playback/playback.ts';
import { playbackRoutes } from './playback/playback.routes.ts';
import * as inspectionVerbs from './providers/inspections.ts';
import * as inboxVerbs from './providers/inbox.ts';
import { inboxRoutes } from './providers/inbox.routes.ts';
import { type CallNeeds, createProviderCaller } from './providers/provider-calls.ts';
import * as providerVerbs from './providers/hosted-videos.ts';
import { protectVideoJob } from './providers/protect-video.job.ts';
import { getProvider, type Providers } from './providers/provider.ts';
import * as webhookVerbs from './providers/webhooks.ts';
import { webhookRoutes } from './providers/webhooks.routes.ts';
import * as objectVerbs from './storage/object-response.ts';
import { openResponseBuffers } from './storage/response-buffers.ts';
import { emptyTrashJob } from './upkeep/empty-trash.job.ts';
import { expireUploadsJob } from './upkeep/expire-uploads.job.ts';
import * as expiryVerbs from './upkeep/expiry.ts';
import { forgetKeysJob } from './upkeep/forget-keys.job.ts';
import { makePartitionsJob } from './upkeep/make-partitions.job.ts';
import * as orphanVerbs from './upkeep/orphans.ts';
import { orphanRoutes } from './upkeep/orphans.routes.ts';
import * as partitionVerbs from './upkeep/partitions.ts';
import { purgeAssetJob } from './upkeep/purge-asset.job.ts';
import * as reconcileVerbs from './upkeep/reconcile.ts';
import { reconcileJob } from './upkeep/reconcile.job.ts';
import { removeStrayVideosJob } from './upkeep/remove-stray-videos.job.ts';
import * as strayVerbs from './upkeep/orphaned-videos.ts';
import * as completionVerbs from './uploads/completion.ts';
import * as transferVerbs from './uploads/byte-uploads.ts';
import { transferRoutes } from './uploads/byte-uploads.routes.ts';
import type { UploadLimits } from './uploads/upload-request.ts';
import * as uploadVerbs from './uploads/uploads.ts';
import { uploadRoutes } from './uploads/uploads.routes.ts';
import type { UnderQuota } from './usage/usage.ts';
import * as usageVerbs from './usage/usage.ts';
import { usageRoutes } from './usage/usage.routes.ts';

/** What the features need beside their parts. `publicBaseUrl` has no slash at its end, and may be known only once the listener has its port. */
export type AppSettings = {
  readonly config: Config;
  readonly publicBaseUrl: () => string;
  readonly log: Logger;
  readonly now: () => Date;
  /** How often connections are checked against their timeouts; undefined: every second. */
  readonly checkEveryMs?: number | undefined;
};

export type App = { readonly server: HttpServer; readonly handlers: JobHandlers<JobPayloads> };

export async function buildApp(parts: Adapters, settings: AppSettings): Promise<App> {
  const features = buildFeatures(parts, settings);
  const { config, log, checkEveryMs } = settings;
  const server = createServer(log, {
    maxConnections: config.maxConnections,
    trustProxy: config.trustProxy,
    ...(checkEveryMs !== undefined && { checkEveryMs }),
  });
  await allowOrigins(server, config.corsOrigins);
  if (features.limiters.addresses) limitAddresses(server, features.limiters.addresses);
  guardProtocol(server);
  await describeApi(server);
  await mountRoutes(server, { features, settings });
  await serveDocumentation(server, { hasPages: config.docs });
  return { server, handlers: jobHandlers(parts, features, settings) };
}

type Features = ReturnType<typeof buildFeatures>;

function buildFeatures(
  {
    db,
    jobs,
    store,
    requireDatabaseSpace,
    probe,
    imageProcessor: processor,
    providers,
    urlSecrets,
    workerName,
    sandbox,
  }: Adapters,
  { config, publicBaseUrl, log, now }: AppSettings,
) {
  const circuits: CallNeeds['circuits'] = new Map();
  const batches = assetBatches(db);
  const assets = bind(batches, assetVerbs);
  const reports = bind({ db, batches, jobs, now, inTurn: createKeyedMutex() }, reportVerbs);
  const { maxUploadBytes, uploadTtlSeconds, playbackTokenTtlSeconds: tokenTtlSeconds } = config;
  const call = createProviderCaller({ providers, circuits, now });
  const hosted = bind(
    {
      db,
      providers,
      call,
      applyReport: reports.applyReport,
      findAssetById: assets.findAssetById,
      maxUploadBytes,
      now,
    },
    providerVerbs,
  );
  const limits = uploadLimits(config, { providers, takesHeif: processor.takesHeif });
  const start = startJob(providers);
  const underQuota: UnderQuota = (owner, work) => usageVerbs.underQuota({ db }, owner, work);
  const usage = { ...bind({ db }, usageVerbs), underQuota };
  const limiters = openLimiters({ db, log }, config);
  const limitOwnerRate = (ownerUserId: string) => limitOwner(limiters.owner, ownerUserId);
  return {
    assets,
    usage,
    limiters,
    reports,
    providers,
    guards: assetGuards({
      ...assets,
      callerOf: createAuthenticator({
        tokenSecrets: config.tokenSecrets,
        serviceKeys: config.serviceKeys,
        now,
      }),
    }),
    lists: bind({ db, urlSecrets }, listVerbs),
    edits: bind(
      { db, jobs, findAssetById: assets.findAssetById, now, isHosted: hosted.isHosted },
      { edit: editVerbs.edit },
    ),
    trash: bind(
      { db, jobs, findAssetById: assets.findAssetById, now, trashDays: config.trashDays, startJob: start },
      trashVerbs,
    ),
    encodings: bind({ db, jobs, workerName }, encodingVerbs),
    encodeQueue: bind(
      { db, jobs, findAssetById: assets.findAssetById, cancel: reports.cancel },
      encodeQueueVerbs,
    ),
    images: bind(
      {
        findAssetById: assets.findAssetById,
        store,
        processor,
        inFlight: createSingleFlight({ maxConcurrent: MAX_VARIANTS_IN_FLIGHT }),
        queue: createFairQueue(VARIANT_QUEUE),
        maxVariantBytes: config.maxVariantBytes,
        now,
      },
      imageVerbs,
    ),
    webhooks: bind(
      { providers, applyReport: reports.applyReport, recordDelivery: reports.recordDelivery, now },
      webhookVerbs,
    ),
    inbox: bind(
      { db, providers, applyReport: reports.applyReport, findReportedAsset: reports.findReportedAsset, now },
      inboxVerbs,
    ),
    feed: bind({ db }, feedVerbs),
    overview: bind({ db, providers, circuits, now }, overviewVerbs),
    uploads: bind(
      {
        createAsset: async (asset: NewAsset, note: EventData) => {
          await requireDatabaseSpace();
          return usage.underQuota(asset.owner_user_id, () => assets.createAsset(asset, note));
        },
        applyParked: hosted.applyParked,
        prepareUpload: hosted.prepareUpload,
        urlSecrets,
        limits,
        publicBaseUrl,
        now,
      },
      uploadVerbs,
    ),
    hosted,
    completion: bind({ ...reports, ...hosted, store, probe, startJob: start }, completionVerbs),
    transfers: bind(
      {
        db,
        jobs,
        store,
        requireDatabaseSpace,
        findAssetById: assets.findAssetById,
        urlSecrets,
        maxUploadBytes,
        uploadTtlSeconds,
        now,
        ...usage,
        limitOwner: limitOwnerRate,
      },
      transferVerbs,
    ),
    playback: bind(
      {
        findAssetById: assets.findAssetById,
        signed: hosted.signed,
        urlSecrets,
        tokenTtlSeconds,
        publicBaseUrl,
        now,
      },
      playbackVerbs,
    ),
    downloads: bind(
      {
        findAssetById: assets.findAssetById,
        downloadOf: hosted.downloadOf,
        canAsk: hosted.canAsk,
        urlSecrets,
        publicBaseUrl,
        now,
        limitOwner: limitOwnerRate,
      },
      downloadVerbs,
    ),
    objects: bind({ store, buffers: openResponseBuffers() }, objectVerbs),
    health: {
      ...bind({ db, store, requireDatabaseSpace }, healthVerbs),
      sandbox: sandbox.protections,
      isOperator: (headers: Input['headers']) => isOperator(headers, config.operatorKeys),
    },
    expiry: bind(
      { db, now, findAssetById: assets.findAssetById, refuseAsset: reports.refuseAsset },
      expiryVerbs,
    ),
    reconcile: bind(
      {
        db,
        providers,
        jobs,
        now,
        ...assets,
        ...reports,
        ...hosted,
        ...bind({ call }, inspectionVerbs),
        startJob: start,
      },
      reconcileVerbs,
    ),
    strays: bind({ db, providers, call, now }, strayVerbs),
    orphans: bind({ db, store, now }, orphanVerbs),
    asOperator: operatorGuard(config.operatorKeys),
    keys: { deleteExpiredKeys: () => Promise.all([deleteExpiredKeys(db), deleteFullBuckets(db)]) },
    once: createIdempotency(db),
    partitions: bind({ db, now, webhookRetentionDays: config.webhookRetentionDays }, partitionVerbs),
  };
}

/** Variants being rendered or waiting for it, of all assets. */
const MAX_VARIANTS_IN_FLIGHT = 256;
/** One asset can keep at most two image processes busy. */
const VARIANT_QUEUE = { concurrency: 4, perKey: 2, maxWaitingPerKey: 14, maxWaitMs: 20_000 } as const;

type Means = { readonly providers: Providers; readonly takesHeif: boolean };

const uploadLimits = (
  { maxUploadBytes, uploadTtlSeconds, videoProvider, mediaTypes }: Config,
  { providers, takesHeif }: Means,
): UploadLimits => ({
  maxUploadBytes,
  uploadTtlSeconds,
  defaultProvider: videoProvider,
  mediaTypeOf: (mime) =>
    mediaTypeOf(
      mime,
      mediaTypes.filter(({ looks }) => takesHeif || !looks.includes('heif')),
    ),
  hostedProviders: [...providers.values()].filter(({ kind }) => kind === 'hosted').map(({ name }) => name),
  uploadProviders: [...providers.values()]
    .filter(({ capabilities }) => capabilities.uploads)
    .map(({ name }) => name),
});

const startJob =
  (providers: Providers) =>
  (asset: Asset): StartJob | undefined =>
    asset.provider
      ? getProvider(providers, asset.provider).startJob(asset)
      : { name: 'process-image', payload: { assetId: asset.id } };

type Mounting = { readonly features: Features; readonly settings: AppSettings };

async function mountRoutes(
  server: HttpServer,
  { features, settings: { publicBaseUrl } }: Mounting,
): Promise<void> {
  const {
    guards,
    lists,
    edits,
    trash,
    uploads,
    completion,
    downloads,
    transfers,
    images,
    playback,
    objects,
    webhooks,
    health,
    orphans,
    inbox,
    feed,
    overview,
    providers,
    encodeQueue,
    asOperator,
    once,
    usage,
    limiters: { owner: ownerLimiter },
  } = features;
  const known = { ProviderName: [...providers.keys()] };
  await server.register(
    async (api) => {
      mount(api, { tag: 'media', once, known, ownerLimiter }, [
        ...uploadRoutes(
          {
            createUpload: uploads.createUpload,
            completeUpload: completion.completeUpload,
            retryUpload: (asset, note) =>
              usage.underQuota(asset.owner_user_id, () => completion.retryUpload(asset, note)),
          },
          guards,
          publicBaseUrl,
        ),
        ...assetListRoutes(lists, guards, publicBaseUrl),
        ...assetRoutes(edits, guards, publicBaseUrl),
        ...trashRoutes(
          {
            deleteAsset: trash.deleteAsset,
            restoreAsset: (asset, note) =>
              usage.underQuota(asset.owner_user_id, () => trash.restoreAsset(asset, note)),
          },
          guards,
          publicBaseUrl,
        ),
        ...downloadRoutes(downloads, guards, objects),
        ...timelineRoutes(feed, guards),
        ...usageRoutes(usage, guards),
      ]);
      mount(api, { tag: 'bytes' }, transferRoutes(transfers, publicBaseUrl));
      mount(api, { tag: 'playback' }, [
        ...playbackRoutes(playback, guards, objects),
        ...imageRoutes({ ...images, findPlayableAsset: playback.findPlayableAsset, objects }),
      ]);
      mount(api, { tag: 'webhooks' }, webhookRoutes(webhooks, [...providers.keys()]));
      mount(api, { tag: 'admin', known }, [
        ...orphanRoutes(orphans, asOperator),
        ...inboxRoutes(inbox, asOperator),
        ...providersOverviewRoutes(overview, asOperator),
        ...ownerLimitsRoutes(usage, asOperator),
        ...encodeQueueRoutes(encodeQueue, asOperator),
      ]);
    },
    { prefix: '/api/v1' },
  );
  mount(server, { tag: 'operations' }, healthRoutes(health));
}

const jobHandlers = (
  { store, encoder, callback, scratchRoot }: Adapters,
  features: Features,
  { log }: AppSettings,
): JobHandlers<JobPayloads> => ({
  'encode-asset': encodeAssetJob({ ...features.encodings, store, encoder, callback, scratchRoot, log }),
  'remove-run-files': removeRunFilesJob({ store }),
  'deliver-report': deliverReportJob({ callback }),
  'make-poster': makePosterJob({
    findAssetById: features.assets.findAssetById,
    showPoster: features.reports.showPoster,
    store,
    encoder,
    scratchRoot,
  }),
  'process-image': processImageJob({
    ...features.images,
    findAssetById: features.assets.findAssetById,
    applyReport: features.reports.applyReport,
  }),
  'purge-asset': purgeAssetJob({
    findAssetById: features.assets.findAssetById,
    store,
    removeVideo: features.hosted.removeVideo,
  }),
  'protect-video': protectVideoJob({
    findAssetById: features.assets.findAssetById,
    protect: features.hosted.protect,
  }),
  reconcile: reconcileJob(features.reconcile),
  'remove-stray-videos': removeStrayVideosJob(features.strays),
  'expire-uploads': expireUploadsJob(features.expiry),
  'empty-trash': emptyTrashJob(features.trash),
  'forget-keys': forgetKeysJob(features.keys),
  'make-partitions': makePartitionsJob(features.partitions),
});
