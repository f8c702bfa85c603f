// Uploads: opening, receiving, importing, cutting, completing and retrying them.
import type { Guards } from '../assets/asset-guards.hook.ts';
import type { AssetViewContext } from '../assets/asset-view.ts';
import { findMediaType, type MediaType } from '@mediary/media-rules/media-type';
import { createConcurrencyLimit } from '../platform/concurrency/concurrency-limit.ts';
import { createInFlight } from '../platform/concurrency/in-flight.ts';
import { createGuardedFetch } from '../platform/outbound/guarded-fetch.ts';
import type { AsOperator } from '../platform/http/route.ts';
import type { OutboundLimits } from '../platform/outbound/outbound-limits.ts';
import { sendBody } from '../platform/outbound/send-body.ts';
import { openFairSlots } from '../platform/process/fair-slots.ts';
import { offer } from '../platform/values/offer.ts';
import { adoptAssetJob } from './adopt/adopt-asset.job.ts';
import { adoptionRoutes } from './adopt/adoptions.routes.ts';
import { deleteSourceJob } from './adopt/delete-source.job.ts';
import { restartLostClips } from './clip/clip-runs.ts';
import { isFetched } from './service-runs.ts';
import { clipAssetJob } from './clip/clip-asset.job.ts';
import type { Intake, UploadsContext } from './context.ts';
import {
  discardClosedUploads,
  endExpiredUploads,
  finishCompleteUploads,
  pruneUploads,
} from './expired-uploads.ts';
import { importAssetJob } from './import/import-asset.job.ts';
import { removeExpiredSources, restartLostImports } from './import/import-runs.ts';
import { transferImportJob } from './import/transfer-import.job.ts';
import { multipartRoutes } from './multipart/multipart-uploads.routes.ts';
import { s3RequestRoutes } from './multipart/s3-requests.routes.ts';
import { createRunningChecksums } from './original/running-checksum.ts';
import { createPutClaims } from './original/store-original.ts';
import { tusRoutes } from './tus/tus.routes.ts';
import { checkRestoredUpload, toRestoredUpload } from './restored-upload.ts';
import type { NewAssetRules } from './upload-request.ts';
import { uploadRoutes } from './uploads.routes.ts';

export type Uploads = ReturnType<typeof createUploads>['operations'];

/** The context without what `createUploads` adds. */
type AppPart = Omit<UploadsContext, 'settings' | 'intake'> & {
  readonly settings: Omit<UploadsContext['settings'], 'newAssets'> &
    Pick<NewAssetRules, 'defaultProvider'> & {
      readonly countryHeader: string | undefined;
      /** Those that the operator allows and this process can decode. */
      readonly mediaTypes: readonly MediaType[];
    };
};

type Doors = {
  readonly guards: Guards;
  readonly asOperator: AsOperator;
  readonly view: AssetViewContext;
};

export function createUploads(app: AppPart, { guards, asOperator, view }: Doors) {
  const settings = { ...app.settings, newAssets: toNewAssetRules(app) };
  const ctx: UploadsContext = { ...app, settings, intake: openIntake(app) };
  const { store, providers } = ctx;
  const hasRelay = [...providers.registry.values()].some(({ api }) => api?.tusRelay !== undefined);
  return {
    operations: {
      ...offer(ctx, {
        endExpiredUploads,
        pruneUploads,
        discardClosedUploads,
        finishCompleteUploads,
        removeExpiredSources,
        isFetched,
        restartLostImports,
        restartLostClips,
        toRestoredUpload,
        checkRestoredUpload,
      }),
      uploadsSettled: ctx.intake.inFlight.settled,
    },
    routes: [
      ...uploadRoutes(ctx, guards, view),
      ...adoptionRoutes(ctx, asOperator, view),
      ...multipartRoutes(ctx, view),
      ...s3RequestRoutes(ctx),
      ...(store.partial || hasRelay ? tusRoutes(ctx) : []),
    ],
    jobs: {
      'import-asset': importAssetJob(ctx),
      'adopt-asset': adoptAssetJob(ctx),
      'delete-source': deleteSourceJob(ctx),
      'transfer-import': transferImportJob(ctx),
      'clip-asset': clipAssetJob(ctx),
    },
  };
}

/** An owner has at most three final uploads at a time. */
const ASSEMBLY = { processes: 4, perOwner: 3, maxWaiting: 4, waitMs: 30_000 };

function openIntake({ db, settings }: AppPart): Intake {
  const totalMs = settings.importLimits.importTimeoutSeconds * 1000;
  return {
    claimPut: createPutClaims(db),
    leases: new Map(),
    checksums: createRunningChecksums(),
    acquireAssembly: openFairSlots(ASSEMBLY.processes).addGroup(ASSEMBLY),
    inFlight: createInFlight(),
    outbound: {
      fetchFile: createImportFetch(settings, { totalMs }),
      fetchMetadata: createImportFetch(settings, METADATA_LIMITS),
      limitMetadataRequests: createConcurrencyLimit(METADATA_CONCURRENCY),
      sendBody,
    },
    mediaTypes: settings.mediaTypes,
  };
}

/** Limits of the request for the name and the type of a file, while the caller waits. */
const METADATA_LIMITS = { connectMs: 5000, headMs: 5000, totalMs: 10_000 };
const METADATA_CONCURRENCY = { total: 64, perKey: 8 };

const createImportFetch = (
  { outboundAllowPrivate, maxUploadBytes }: AppPart['settings'],
  limits: Partial<OutboundLimits>,
) =>
  createGuardedFetch({
    allowPrivate: outboundAllowPrivate.includes('import'),
    limits: { ...limits, maxBodyBytes: maxUploadBytes },
  });

function toNewAssetRules({ settings, providers }: AppPart): NewAssetRules {
  const { maxUploadBytes, uploadTtlSeconds, defaultProvider, mediaTypes, countryHeader } = settings;
  const all = [...providers.registry.values()];
  return {
    maxUploadBytes,
    uploadTtlSeconds,
    defaultProvider,
    knowsCountries: countryHeader !== undefined,
    findMediaType: (mime) => findMediaType(mime, mediaTypes),
    mimeTypes: mediaTypes.map(({ mime }) => mime),
    uploadRules: new Map(
      all.flatMap(({ name, api }) => (api?.uploadRules ? [[name, api.uploadRules] as const] : [])),
    ),
    hostedProviders: all.filter(({ kind }) => kind === 'hosted').map(({ name }) => name),
    uploadProviders: all.filter(({ capabilities }) => capabilities.uploads).map(({ name }) => name),
  };
}
