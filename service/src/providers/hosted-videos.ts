// Operations on provider videos: create, link, inspect, sign and remove (contract B4–B6).
import type { Asset, ProviderName } from '../assets/asset.ts';
import { newEvent } from '../assets/asset-event.ts';
import type { Cause } from '../lifecycle/reports.ts';
import type { AssetStore } from '../lifecycle/store.ts';
import type { Outcome, StreamReport } from '../lifecycle/stream-report.ts';
import { conflict, notFound, toReason } from '../platform/errors.ts';
import type { Database } from '../platform/postgres/database.ts';
import { getProvider, type Inspection, type PreparedUpload, ProviderFailed } from './provider.ts';
import { canTakeUploads } from './hosted-playback.ts';
import { throwServiceError } from './provider-errors.ts';
import type { Call, CallNeeds } from './provider-calls.ts';
import { livingAssetOf, parkedDeliveries } from './hosted-videos.sql.ts';

type ProviderNeeds = Pick<CallNeeds, 'providers' | 'now'> & {
  readonly call: Call;
  readonly db: Database;
  readonly update: AssetStore['update'];
  readonly applyReport: (report: StreamReport, cause: Cause) => Promise<Outcome | undefined>;
  readonly findAssetById: (id: string) => Promise<Asset | undefined>;
  readonly maxUploadBytes: number;
};

type Prepared = { readonly asset: Asset } & Pick<PreparedUpload, 'target' | 'alternatives'>;

/** Creates an empty video for a stored asset and links both. The reconcile job finds videos that were never linked. */
export async function prepareUpload(needs: ProviderNeeds, asset: Asset): Promise<Prepared> {
  const name = providerOf(asset);
  if (asset.stream_status !== 'pending_upload')
    throw conflict('This upload was opened before, and is over', {
      reason: toReason(asset.failure?.code ?? asset.stream_status),
    });
  const wish = {
    assetId: asset.id,
    filename: asset.filename,
    mimeType: asset.mime_type,
    size: asset.announced_size_bytes,
    maxBytes: needs.maxUploadBytes,
    isPrivate: asset.visibility === 'private',
    expires: Math.floor((asset.upload_expires_at ?? needs.now()).getTime() / 1000),
    videoId: asset.provider_video_id,
  };
  const { videoId, target, alternatives } = await needs
    .call(name, (api) => api.prepareUpload(wish))
    .catch(async (error: unknown) => {
      await noteTrouble(needs, asset, error);
      return throwServiceError(error);
    });
  const linked = videoId === asset.provider_video_id ? asset : await linkVideo(needs, asset, videoId);
  if (!linked) throw conflict('The asset changed while its upload was opened', { reason: 'changed' });
  return { asset: await applyParked(needs, linked), target, ...(alternatives && { alternatives }) };
}

/** Links an asset to its video, or to another one than before; undefined if it was linked otherwise, completed or removed meanwhile. */
async function linkVideo(
  { update }: ProviderNeeds,
  asset: Asset,
  videoId: string,
): Promise<Asset | undefined> {
  const updated = await update(asset, (seen) =>
    seen.provider_video_id === asset.provider_video_id &&
    seen.stream_status === 'pending_upload' &&
    seen.deleted_at === null
      ? {
          set: { provider_video_id: videoId },
          events: [newEvent('asset.updated', { source: 'service', fields: ['provider_video_id'] })],
          jobs: [],
        }
      : undefined,
  );
  return updated?.decision && updated.asset;
}

/** Must be called after the link is committed. Returns the asset after applying the parked reports. */
export async function applyParked(
  { db, providers, applyReport: apply, findAssetById: byId }: ProviderNeeds,
  asset: Asset,
): Promise<Asset> {
  if (!asset.provider || asset.provider_video_id === null) return asset;
  const parked = await parkedDeliveries(db, asset.provider, asset.provider_video_id);
  for (const delivery of parked) {
    const reading = getProvider(providers, asset.provider).read(delivery.body, delivery);
    if ('report' in reading) await apply(reading.report, { ref: { assetId: asset.id }, delivery });
  }
  return parked.length > 0 ? ((await byId(asset.id)) ?? asset) : asset;
}

/** Requests the current state of an asset's video. Throws UNAVAILABLE. */
export const inspectNow = (needs: ProviderNeeds, asset: Asset): Promise<Inspection> =>
  needs.call(providerOf(asset), (api) => api.inspect(videoOf(asset))).catch(throwServiceError);

/** Applies a report of the provider's API in the same way as a webhook. */
export async function applyInspection(
  needs: ProviderNeeds,
  asset: Asset,
  report: StreamReport,
): Promise<Asset> {
  await needs.applyReport(report, { ref: { assetId: asset.id } });
  return (await needs.findAssetById(asset.id)) ?? asset;
}

/** Starts a new encoding at the provider; CONFLICT when the product does not support it. */
export async function restart(needs: ProviderNeeds, asset: Asset): Promise<void> {
  const name = providerOf(asset);
  const { api } = getProvider(needs.providers, name);
  const again = api?.restart;
  if (!again)
    throw conflict(
      api
        ? `The provider ${name} cannot encode a video again. Upload it again.`
        : `The API of the provider ${name} is not configured, so it cannot encode this video again.`,
      { reason: 'no_restart', retryable: false },
    );
  await needs.call(providerOf(asset), () => again(videoOf(asset))).catch(throwServiceError);
}

/** Removes the provider's video, unless another asset uses it. Throws ProviderFailed, so that the job is retried. */
export async function removeVideo(needs: ProviderNeeds, asset: Asset): Promise<void> {
  if (!canAsk(needs, asset)) return;
  const other = await livingAssetOf(needs.db, providerOf(asset), videoOf(asset));
  if (other === undefined || other.id === asset.id)
    await needs.call(providerOf(asset), (api) => api.remove(videoOf(asset)));
}

/** The same for a caller who waits for it: throws UNAVAILABLE. */
export const discardVideo = (needs: ProviderNeeds, asset: Asset): Promise<void> =>
  removeVideo(needs, asset).catch(throwServiceError);

/** Updates the video's access protection, if the provider supports it per video. Throws ProviderFailed. */
export async function protect(needs: ProviderNeeds, asset: Asset): Promise<void> {
  const protectVideo = canAsk(needs, asset) && getProvider(needs.providers, providerOf(asset)).api?.protect;
  if (protectVideo)
    await needs.call(providerOf(asset), () => protectVideo(videoOf(asset), asset.visibility === 'private'));
}

/** Download URL of the provider; NOT_FOUND when it offers none. */
export async function downloadOf(needs: ProviderNeeds, asset: Asset, expires: number): Promise<string> {
  const url = await needs
    .call(providerOf(asset), (api) =>
      api.download({ videoId: videoOf(asset), filename: asset.filename, expires }),
    )
    .catch(throwServiceError);
  if (url === undefined)
    throw notFound('The video host offers no file of this video', { reason: 'no_download' });
  return url;
}

/** True when the provider's API can report the state of this asset's video. */
export const canAsk = (needs: Pick<ProviderNeeds, 'providers'>, asset: Asset): boolean =>
  asset.provider_video_id !== null && canTakeUploads(needs, asset);

/** Adds an event, so that the timeline explains why the asset has no video. */
async function noteTrouble({ update }: ProviderNeeds, asset: Asset, error: unknown): Promise<void> {
  if (!(error instanceof ProviderFailed)) return;
  const { failure, providerCode } = error;
  const event = newEvent('asset.checked', {
    source: 'service',
    code: failure.code,
    ...(providerCode !== undefined && { provider_code: providerCode }),
  });
  await update(asset, () => ({ set: {}, events: [event], jobs: [] }));
}

function providerOf({ provider }: Asset): ProviderName {
  if (!provider) throw new Error('a picture has no provider');
  return provider;
}

function videoOf({ provider_video_id: id }: Asset): string {
  if (id === null) throw new Error('the asset has no video at its provider');
  return id;
}
