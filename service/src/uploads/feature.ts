// Uploads: opening, receiving, completing and retrying them.
import type { AppContext } from '../app-context.ts';
import type { Guards } from '../assets/asset-guards.hook.ts';
import type { AssetViewContext } from '../assets/asset-view.ts';
import type { Lifecycle } from '../lifecycle/feature.ts';
import type { AssetStore } from '../lifecycle/store.ts';
import { findMediaType } from '../media/media-type.ts';
import { bind, type BoundOperations } from '../platform/bind.ts';
import { createInFlight } from '../platform/concurrency/in-flight.ts';
import type { ProviderOperations } from '../providers/feature.ts';
import type { Usage } from '../usage/feature.ts';
import { createConcurrencyLimit } from '../platform/concurrency/concurrency-limit.ts';
import { createGuardedFetch } from '../platform/outbound/guarded-fetch.ts';
import { openFairSlots } from '../platform/process/fair-slots.ts';
import { sendBody } from '../platform/outbound/send-body.ts';
import type { OutboundLimits } from '../platform/outbound/outbound-limits.ts';
import * as byteOperations from './put/byte-uploads.ts';
import * as duplicateOperations from './duplicates.ts';
import { clipAssetJob, type ClipJobNeeds } from './clip/clip-asset.job.ts';
import * as clipRunOperations from './clip/clip-runs.ts';
import * as clipOperations from './clip/clips.ts';
import * as completionOperations from './completion.ts';
import * as concatenationOperations from './tus/concatenation.ts';
import * as appendingOperations from './tus/resumable-bytes.ts';
import * as resumableOperations from './tus/resumable-uploads.ts';
import * as expiryOperations from './expired-uploads.ts';
import * as leaseOperations from './original/leased-uploads.ts';
import * as relayOperations from './tus/tus-relay.ts';
import * as tusOperations from './tus/tus-requests.ts';
import { tusRoutes } from './tus/tus.routes.ts';
import { importAssetJob } from './import/import-asset.job.ts';
import * as importRunOperations from './import/import-runs.ts';
import * as importOperations from './import/imports.ts';
import * as partialOperations from './import/partial-imports.ts';
import * as completionOfParts from './multipart/multipart-completion.ts';
import * as multipartOperations from './multipart/multipart-uploads.ts';
import { multipartRoutes } from './multipart/multipart-uploads.routes.ts';
import { s3RequestRoutes } from './multipart/s3-requests.routes.ts';
import * as retryOperations from './retry.ts';
import * as originalOperations from './original/store-original.ts';
import { createRunningChecksums } from './original/running-checksum.ts';
import type { UploadLimits } from './upload-request.ts';
import * as byteTransferOperations from './import/transfer-bytes.ts';
import * as transferOperations from './import/transfer-import.ts';
import { transferImportJob } from './import/transfer-import.job.ts';
import * as uploadOperations from './uploads.ts';
import * as putOperations from './put/small-puts.ts';
import { uploadRoutes } from './uploads.routes.ts';

type Doors = Pick<byteOperations.TicketNeeds, 'limitOwner'> & uploadOperations.TokenOperations;
type Needs = AppContext &
  Doors & {
    readonly lifecycle: Lifecycle;
    readonly usage: Usage;
    readonly files: Pick<ClipJobNeeds, 'findLocalFile'>;
    readonly scratchReservations: ClipJobNeeds['scratchReservations'];
    readonly hosted: ProviderOperations;
    readonly guards: Guards;
    readonly view: AssetViewContext;
  };

export type Uploads = ReturnType<typeof createUploads>['operations'];

export function createUploads(context: Needs) {
  const { usage, guards, view } = context;
  const needs = toNeeds(context);
  const createAsset = createAssetUnderQuota(context);
  const inFlight = createInFlight();
  const { receiveUpload, ...tickets } = bind({ ...needs, ...bind(needs, putOperations) }, byteOperations);
  const multipart = createMultiparts(needs);
  const { prepareUpload, tus, ...resumable } = createResumable({ ...needs, ...tickets }, inFlight);
  const opening = bind({ ...needs, createAsset, ...toOffers(context), prepareUpload }, uploadOperations);
  const completion = bind(needs, completionOperations);
  const { importRuns, ...importJobs } = createImportRuns({ ...needs, ...resumable, ...completion });
  const clipRuns = bind({ ...needs, ...completion }, clipRunOperations);
  const { offerUpload } = opening;
  const retries = bind({ ...needs, offerUpload, ...importRuns }, retryOperations);
  const uploads: Parameters<typeof uploadRoutes>[0] = {
    ...opening,
    ...completion,
    createImport: createImports({ ...context, createAsset }).createImport,
    // A clip is a file of our own, so ALLOWED_MIME_TYPES does not apply.
    ...bind({ ...needs, createAsset, limits: { ...toUploadLimits(context), findMediaType } }, clipOperations),
    receiveUpload: (upload) => inFlight.track(receiveUpload(upload)),
    retryUpload: (asset, actorData) =>
      usage.underQuota(asset.owner_user_id, () => retries.retryUpload(asset, actorData)),
  };
  return {
    operations: {
      ...bind({ ...needs, ...resumable, ...multipart }, expiryOperations),
      uploadsSettled: inFlight.settled,
      removeExpiredSources: importRuns.removeExpiredSources,
    },
    routes: [
      ...uploadRoutes(uploads, guards, view),
      ...partRoutes({ ...needs, ...multipart, ...tickets }),
      ...tus,
    ],
    jobs: {
      ...importJobs.jobs,
      'clip-asset': clipAssetJob({ ...needs, ...clipRuns }),
    },
  };
}

function toNeeds(context: Needs) {
  const { lifecycle, usage, hosted, config } = context;
  const { maxUploadBytes, uploadTtlSeconds, uploadMaxAgeSeconds, multipartUploadBytes } = config;
  const claimPut = originalOperations.createPutClaims(context);
  const limits = { maxUploadBytes, uploadTtlSeconds, uploadMaxAgeSeconds, multipartUploadBytes };
  const needs = { ...context, ...context.files, ...lifecycle, ...hosted, ...usage, ...limits, claimPut };
  return { ...needs, ...bind(needs, { ...originalOperations, ...duplicateOperations }) };
}

const createAssetUnderQuota =
  ({ lifecycle, usage, requireDatabaseSpace }: Needs): AssetStore['createAsset'] =>
  async (asset, data, options) => {
    await requireDatabaseSpace();
    return usage.underQuota(asset.owner_user_id, () =>
      lifecycle.assetStore.createAsset(asset, data, options),
    );
  };

type ResumableContext = Omit<
  Parameters<typeof appendingOperations.appendBytes>[0] &
    Parameters<typeof resumableOperations.createResumable>[0],
  'leaseUpload' | 'startLease' | 'discardIdleUploads' | 'checksums' | 'finishResumable'
> &
  Pick<Usage, 'findByteQuota'> &
  Omit<Parameters<typeof relayOperations.answerTusOrRelay>[0], 'answerTus'>;

type MultipartContext = Parameters<typeof completionOfParts.completeMultipart>[0];

const createMultiparts = (needs: MultipartContext) =>
  bind(needs, { ...multipartOperations, ...completionOfParts });

const partRoutes = (needs: Parameters<typeof multipartRoutes>[0] & Parameters<typeof s3RequestRoutes>[0]) => [
  ...multipartRoutes(needs),
  ...s3RequestRoutes(needs),
];

type InFlight = ReturnType<typeof createInFlight>;

/** Requests of the protocol, and what the jobs that clean up after it need. */
function createResumable(needs: ResumableContext, inFlight: InFlight) {
  const shared = { ...needs, checksums: createRunningChecksums() };
  const leases = bind({ ...shared, leases: new Map() }, leaseOperations);
  const appending = bind({ ...shared, ...leases }, appendingOperations);
  const uploads = bind({ ...shared, ...leases, ...appending }, resumableOperations);
  // An owner has at most three of them.
  const acquireAssembly = openFairSlots(4).addGroup({ perOwner: 3, maxWaiting: 4, waitMs: 30_000 });
  const parts = { ...shared, ...leases, ...appending, ...uploads, acquireAssembly };
  const joining = bind(parts, concatenationOperations);
  const tus = bind({ ...needs, ...uploads, ...appending, ...joining }, tusOperations);
  const answerTus = needs.store.partial && tus.answerTus;
  const relay = bind({ ...needs, answerTus }, relayOperations);
  const hasRelay = [...needs.providers.values()].some(({ api }) => api?.tusRelay !== undefined);
  const routes = tusRoutes({
    authorize: relay.authorizeTus,
    answerTus: (request) => inFlight.track(relay.answerTusOrRelay(request)),
  });
  return {
    ...uploads,
    appendBytes: appending.appendBytes,
    discardUploads: leases.discardUploads,
    finishInterrupted: joining.finishInterrupted,
    prepareUpload: relay.prepareHostedUpload,
    tus: answerTus || hasRelay ? routes : [],
  };
}

/** Limits of the request for the name and the type of a file, while the caller waits. */
const METADATA_LIMITS = { connectMs: 5000, headMs: 5000, totalMs: 10_000 };
const METADATA_CONCURRENCY = { total: 64, perKey: 8 };

const createImports = (context: AppContext & Pick<importOperations.ImportNeeds, 'createAsset'>) =>
  bind(
    {
      ...context,
      fetchMetadata: createImportFetch(context, METADATA_LIMITS),
      limitMetadataRequests: createConcurrencyLimit(METADATA_CONCURRENCY),
      allowPrivate: mayImportPrivate(context),
      limits: toUploadLimits(context),
      mediaTypes: listDecodable(context),
    },
    importOperations,
  );

type ImportContext = ReturnType<typeof toNeeds> &
  BoundOperations<typeof completionOperations> &
  Omit<ReturnType<typeof createResumable>, 'tus' | 'prepareUpload'>;

/** The two steps of an import: the download, and the transfer to a hosted provider. */
function createImportRuns(needs: ImportContext) {
  const { importLimits } = needs.config;
  const transfers = bind(needs, transferOperations);
  const importRuns = bind({ ...needs, ...transfers }, { ...importRunOperations, ...partialOperations });
  const limits = { totalMs: importLimits.importTimeoutSeconds * 1000 };
  const jobNeeds = { ...needs, ...importLimits, ...importRuns, ...transfers };
  const bytes = bind({ ...needs, send: sendBody }, byteTransferOperations);
  return {
    importRuns,
    jobs: {
      'import-asset': importAssetJob({ ...jobNeeds, fetch: createImportFetch(needs, limits) }),
      'transfer-import': transferImportJob({ ...jobNeeds, ...bytes }),
    },
  };
}

const createImportFetch = (context: AppContext, limits: Partial<OutboundLimits>) =>
  createGuardedFetch({
    allowPrivate: mayImportPrivate(context),
    limits: { ...limits, maxBodyBytes: context.config.maxUploadBytes },
  });

const mayImportPrivate = ({ config }: AppContext): boolean => config.outboundAllowPrivate.includes('import');

const listDecodable = ({ config: { mediaTypes }, imageProcessor: { canDecodeHeif } }: AppContext) =>
  mediaTypes.filter(({ signatures }) => canDecodeHeif || !signatures.includes('heif'));

/** What decides about the targets of an upload. */
const toOffers = (context: AppContext) => {
  const { store, config } = context;
  return {
    limits: toUploadLimits(context),
    resumable: { isOffered: store.partial !== undefined, fromBytes: config.resumableUploadBytes },
    direct: store.direct && { ...store.direct, maxPutBytes: config.multipartUploadBytes },
  };
};

function toUploadLimits(context: AppContext): UploadLimits {
  const { config, providers } = context;
  const { maxUploadBytes, uploadTtlSeconds, videoProvider } = config;
  const decodable = listDecodable(context);
  const all = [...providers.values()];
  return {
    maxUploadBytes,
    uploadTtlSeconds,
    defaultProvider: videoProvider,
    findMediaType: (mime) => findMediaType(mime, decodable),
    mimeTypes: decodable.map(({ mime }) => mime),
    uploadRules: new Map(
      all.flatMap(({ name, api }) => (api?.uploadRules ? [[name, api.uploadRules] as const] : [])),
    ),
    hostedProviders: all.filter(({ kind }) => kind === 'hosted').map(({ name }) => name),
    uploadProviders: all.filter(({ capabilities }) => capabilities.uploads).map(({ name }) => name),
  };
}
