// Uploads: opening, receiving, completing and retrying them.
import type { AppContext } from '../app-context.ts';
import type { Guards } from '../assets/asset-guards.hook.ts';
import type { AssetViewContext } from '../assets/asset-view.ts';
import type { Lifecycle } from '../lifecycle/feature.ts';
import type { AssetStore } from '../lifecycle/store.ts';
import { findMediaType } from '../media/media-type.ts';
import { bind } from '../platform/bind.ts';
import { createInFlight } from '../platform/concurrency/in-flight.ts';
import type { Providers } from '../providers/feature.ts';
import type { Usage } from '../usage/feature.ts';
import * as byteOperations from './byte-uploads.ts';
import * as completionOperations from './completion.ts';
import * as resumableOperations from './resumable-uploads.ts';
import * as retryOperations from './retry.ts';
import * as originalOperations from './store-original.ts';
import * as expiryOperations from './expired-uploads.ts';
import * as holdOperations from './upload-holds.ts';
import * as tusOperations from './tus-requests.ts';
import { tusRoutes } from './tus.routes.ts';
import type { UploadLimits } from './upload-request.ts';
import * as uploadOperations from './uploads.ts';
import { uploadRoutes } from './uploads.routes.ts';

type Needs = AppContext &
  Pick<byteOperations.TicketNeeds, 'limitOwner'> & {
    readonly lifecycle: Lifecycle;
    readonly usage: Usage;
    readonly hosted: Providers;
    readonly guards: Guards;
    readonly view: AssetViewContext;
  };

export type Uploads = ReturnType<typeof createUploads>['operations'];

export function createUploads(context: Needs) {
  const { lifecycle, usage, hosted, guards, view, requireDatabaseSpace, config } = context;
  const { maxUploadBytes, uploadTtlSeconds } = config;
  const needs = { ...context, ...lifecycle, ...hosted, ...usage, maxUploadBytes, uploadTtlSeconds };
  const createAsset: AssetStore['createAsset'] = async (asset, data) => {
    await requireDatabaseSpace();
    return usage.underQuota(asset.owner_user_id, () => lifecycle.assetStore.createAsset(asset, data));
  };
  const opening = bind(
    {
      ...needs,
      createAsset,
      limits: toUploadLimits(context),
      resumable: { isOffered: context.store.partial !== undefined, fromBytes: config.resumableUploadBytes },
    },
    uploadOperations,
  );
  const retries = bind({ ...needs, offerUpload: opening.offerUpload }, retryOperations);
  const inFlight = createInFlight();
  const originals = bind(needs, originalOperations);
  const { receiveUpload, authorizeResumable } = bind({ ...needs, ...originals }, byteOperations);
  const holds = bind({ ...needs, holds: new Map() }, holdOperations);
  const resumable = bind({ ...needs, ...originals, ...holds }, resumableOperations);
  const { answerTus } = bind({ ...needs, ...resumable }, tusOperations);
  const isOffered = context.store.partial !== undefined;
  const uploads: Parameters<typeof uploadRoutes>[0] = {
    ...opening,
    ...bind(needs, completionOperations),
    receiveUpload: (upload) => inFlight.track(receiveUpload(upload)),
    retryUpload: (asset, actorData) =>
      usage.underQuota(asset.owner_user_id, () => retries.retryUpload(asset, actorData)),
  };
  const tus = {
    answerTus: (request: Parameters<typeof answerTus>[0]) => inFlight.track(answerTus(request)),
    authorize: authorizeResumable,
  };
  return {
    operations: { ...bind({ ...needs, ...resumable }, expiryOperations), uploadsSettled: inFlight.settled },
    routes: [...uploadRoutes(uploads, guards, view), ...(isOffered ? tusRoutes(tus) : [])],
    jobs: {},
  };
}

function toUploadLimits({ config, providers, imageProcessor: { canDecodeHeif } }: AppContext): UploadLimits {
  const { maxUploadBytes, uploadTtlSeconds, videoProvider, mediaTypes } = config;
  const decodable = mediaTypes.filter(({ signatures }) => canDecodeHeif || !signatures.includes('heif'));
  const all = [...providers.values()];
  return {
    maxUploadBytes,
    uploadTtlSeconds,
    defaultProvider: videoProvider,
    findMediaType: (mime) => findMediaType(mime, decodable),
    mimeTypes: decodable.map(({ mime }) => mime),
    hostedProviders: all.filter(({ kind }) => kind === 'hosted').map(({ name }) => name),
    uploadProviders: all.filter(({ capabilities }) => capabilities.uploads).map(({ name }) => name),
  };
}
