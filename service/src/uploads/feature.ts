// Uploads: opening, receiving and completing them.
import type { AppContext } from '../app-context.ts';
import type { EventData } from '../assets/asset-event.ts';
import type { NewAsset } from '../assets/asset.ts';
import type { Guards } from '../assets/asset-guards.hook.ts';
import type { Lifecycle } from '../lifecycle/feature.ts';
import { mediaTypeOf } from '../media/media-type.ts';
import { bind } from '../platform/bind.ts';
import { createInFlight } from '../platform/concurrency/in-flight.ts';
import type { Providers } from '../providers/feature.ts';
import type { Usage } from '../usage/feature.ts';
import * as byteOperations from './byte-uploads.ts';
import { transferRoutes } from './byte-uploads.routes.ts';
import * as completionOperations from './completion.ts';
import { retryUpload } from './retry.ts';
import type { UploadLimits } from './upload-request.ts';
import * as uploadOperations from './uploads.ts';
import { uploadRoutes } from './uploads.routes.ts';

type Needs = AppContext &
  Pick<byteOperations.TransferNeeds, 'limitOwner'> & {
    readonly lifecycle: Lifecycle;
    readonly usage: Usage;
    readonly hosted: Providers;
    readonly guards: Guards;
  };

export function createUploads(needs: Needs) {
  const { lifecycle, usage, hosted, guards, publicBaseUrl, requireDatabaseSpace, config } = needs;
  const createAsset = async (asset: NewAsset, note: EventData) => {
    await requireDatabaseSpace();
    return usage.underQuota(asset.owner_user_id, () => lifecycle.assetStore.createAsset(asset, note));
  };
  const { maxUploadBytes, uploadTtlSeconds } = config;
  const completion = bind({ ...needs, ...lifecycle, ...hosted }, completionOperations);
  const uploads = bind({ ...needs, ...hosted, createAsset, limits: uploadLimits(needs) }, uploadOperations);
  const { offerUpload } = uploads;
  const retries = bind({ ...needs, ...lifecycle, ...hosted, offerUpload, uploadTtlSeconds }, { retryUpload });
  const retryUnderQuota: typeof retries.retryUpload = (asset, note) =>
    usage.underQuota(asset.owner_user_id, () => retries.retryUpload(asset, note));
  const transfers = bind(
    { ...needs, ...lifecycle, ...usage, maxUploadBytes, uploadTtlSeconds },
    byteOperations,
  );
  const inFlight = createInFlight();
  const receiveUpload: typeof transfers.receiveUpload = (transfer) =>
    inFlight.track(transfers.receiveUpload(transfer));
  const { createUpload } = uploads;
  const { completeUpload } = completion;
  return {
    operations: { uploadsSettled: inFlight.settled },
    routes: [
      ...uploadRoutes({ createUpload, completeUpload, retryUpload: retryUnderQuota }, guards, publicBaseUrl),
      ...transferRoutes({ receiveUpload }, publicBaseUrl),
    ],
    jobs: {},
  };
}

function uploadLimits({ config, providers, imageProcessor: { takesHeif } }: AppContext): UploadLimits {
  const { maxUploadBytes, uploadTtlSeconds, videoProvider, mediaTypes } = config;
  const decodable = mediaTypes.filter(({ looks }) => takesHeif || !looks.includes('heif'));
  const all = [...providers.values()];
  return {
    maxUploadBytes,
    uploadTtlSeconds,
    defaultProvider: videoProvider,
    mediaTypeOf: (mime) => mediaTypeOf(mime, decodable),
    mimeTypes: decodable.map(({ mime }) => mime),
    hostedProviders: all.filter(({ kind }) => kind === 'hosted').map(({ name }) => name),
    uploadProviders: all.filter(({ capabilities }) => capabilities.uploads).map(({ name }) => name),
  };
}
