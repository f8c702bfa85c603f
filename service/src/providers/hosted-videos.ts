// Operations on provider videos: create, link, inspect, protect and remove (contract B4–B6).
import type { Asset, ProviderName } from '../assets/asset.ts';
import { newEvent } from '../assets/asset-event.ts';
import { firstUploadCheckAt } from '../lifecycle/decisions/reconcile-schedule.ts';
import type { StreamReport } from '../lifecycle/decisions/stream-report.ts';
import { badRequest, conflict, notFound, ServiceError, toReason } from '../platform/http/errors.ts';
import { hostedUploadId } from '../storage/upload-id.ts';
import type { ProvidersContext } from './context.ts';
import { handOver, lacksSettings } from './handover.ts';
import { canTakeUploads } from './hosted-playback.ts';
import { findActiveAsset, listParkedDeliveries } from './hosted-videos.sql.ts';
import {
  type ProviderDownload,
  getProvider,
  type Inspection,
  type PreparedUpload,
  ProviderError,
  type UploadOrder,
} from './provider.ts';
import { callProvider } from './provider-calls.ts';

export function providerOf({ provider }: Pick<Asset, 'provider'>): ProviderName {
  if (!provider) throw new Error('an image has no provider');
  return provider;
}

export function videoOf({ provider_video_id: id }: Pick<Asset, 'provider_video_id'>): string {
  if (id === null) throw new Error('the asset has no video at its provider');
  return id;
}

type OpenedUpload = { readonly asset: Asset } & Pick<PreparedUpload, 'target' | 'alternatives'>;

/** Creates an empty video for a stored asset and links both. A job removes videos that were never linked. */
export async function prepareUpload(ctx: ProvidersContext, asset: Asset): Promise<OpenedUpload> {
  const order = toUploadOrder(ctx, asset);
  const { videoId, target, alternatives } = await callProvider(ctx, providerOf(asset), (api) =>
    api.prepareUpload(order),
  ).catch((error: unknown) => explainFailure(ctx, asset, error));
  const linked =
    videoId === asset.provider_video_id ? asset : await linkVideo(ctx, asset, { videoId, target });
  if (!linked) throw assetChanged();
  return { asset: await applyParked(ctx, linked), target, ...(alternatives && { alternatives }) };
}

/** The link could not be stored: the asset has another video, or waits for none. */
export const assetChanged = (): ServiceError =>
  conflict('The asset changed while its upload was opened. Try again.', { reason: 'asset_changed' });

export function toUploadOrder({ settings, clocks }: ProvidersContext, asset: Asset): UploadOrder {
  if (asset.stream_status !== 'pending_upload')
    throw conflict('The upload is closed', { reason: toReason(asset.failure?.code ?? asset.stream_status) });
  return {
    assetId: asset.id,
    filename: asset.filename,
    mimeType: asset.mime_type,
    size: asset.announced_size_bytes,
    maxBytes: settings.maxUploadBytes,
    maxDurationSeconds: asset.max_duration_s,
    isPrivate: asset.visibility === 'private',
    expires: Math.floor((asset.upload_expires_at ?? clocks.now()).getTime() / 1000),
    videoId: asset.provider_video_id,
  };
}

/**
 * Links a video, and records the upload to it. Undefined if another request linked, completed or deleted the
 * asset meanwhile.
 */
export async function linkVideo(
  { lifecycle }: ProvidersContext,
  asset: Asset,
  { videoId, target }: Pick<PreparedUpload, 'videoId' | 'target'>,
): Promise<Asset | undefined> {
  const hosted = { provider: providerOf(asset), video_id: videoId, protocol: target.protocol };
  const updated = await lifecycle.update(asset, (seen, now) =>
    seen.provider_video_id === asset.provider_video_id &&
    seen.stream_status === 'pending_upload' &&
    seen.deleted_at === null
      ? {
          set: {
            provider_video_id: videoId,
            // Imports have no check before they get a video.
            reconcile_at: seen.reconcile_at ?? firstUploadCheckAt(now),
          },
          events: [newEvent('asset.updated', { source: 'service', fields: ['provider_video_id'] })],
          jobs: [],
          records: { id: hostedUploadId(asset), protocol: 'hosted', target: hosted, isFinished: false },
        }
      : undefined,
  );
  return updated?.decision && updated.asset;
}

/** Call it after the commit of the link. Returns the asset after the parked reports. */
export async function applyParked(ctx: ProvidersContext, asset: Asset): Promise<Asset> {
  if (!asset.provider || asset.provider_video_id === null) return asset;
  const provider = getProvider(ctx.registry, asset.provider);
  const deliveries = await listParkedDeliveries(ctx.db, asset.provider, asset.provider_video_id);
  for (const delivery of deliveries) {
    const parsed = provider.parse(delivery.body, delivery);
    if ('report' in parsed)
      await ctx.lifecycle.applyReport(parsed.report, { ref: { assetId: asset.id }, delivery });
  }
  return deliveries.length > 0 ? ((await ctx.lifecycle.findAssetById(asset.id)) ?? asset) : asset;
}

/** Requests the current state of an asset's video. Throws UNAVAILABLE. */
export const inspectNow = (ctx: ProvidersContext, asset: Asset): Promise<Inspection> =>
  callProvider(ctx, providerOf(asset), (api) => api.inspect(videoOf(asset))).catch(throwServiceError);

/**
 * Applies a report of the provider's API like a webhook. `asset` is the inspected one: the report does not
 * apply to a later attempt, which may have another video.
 */
export async function applyInspection(
  { lifecycle }: ProvidersContext,
  asset: Asset,
  report: StreamReport,
): Promise<Asset> {
  await lifecycle.applyReport({ ...report, attempt: asset.attempt }, { ref: { assetId: asset.id } });
  return (await lifecycle.findAssetById(asset.id)) ?? asset;
}

/** Starts a new encoding at the provider. CONFLICT if its API cannot do that, or is not configured. */
export async function restart(ctx: ProvidersContext, asset: Asset): Promise<void> {
  const name = providerOf(asset);
  const { api } = getProvider(ctx.registry, name);
  if (!api?.restart)
    throw conflict(
      api
        ? `The provider ${name} cannot encode a video again. Upload it again.`
        : `The API of the provider ${name} is not configured, so it cannot encode this video again.`,
      { reason: 'provider_cannot_retry', retryable: false },
    );
  const { restart: restartVideo } = api;
  await callProvider(ctx, name, () => restartVideo(videoOf(asset))).catch(throwServiceError);
}

/** Removes the provider's video, unless another asset uses it. Throws ProviderError, so that jobs retry. */
export async function removeVideo(ctx: ProvidersContext, asset: Asset): Promise<void> {
  if (lacksSettings(ctx, asset)) return handOver(ctx, asset, 'remove');
  if (!canInspect(ctx, asset)) return;
  const user = await findActiveAsset(ctx.db, providerOf(asset), videoOf(asset));
  if (user === undefined || user.id === asset.id)
    await callProvider(ctx, providerOf(asset), (api) => api.remove(videoOf(asset)));
}

/** Removes the provider's video within a request: throws UNAVAILABLE. */
export const discardVideo = (ctx: ProvidersContext, asset: Asset): Promise<void> =>
  removeVideo(ctx, asset).catch(throwServiceError);

/** Sets the video's access protection, if the provider supports it per video. Throws ProviderError. */
export async function protectVideo(ctx: ProvidersContext, assetId: string): Promise<void> {
  const asset = await ctx.lifecycle.findAssetById(assetId);
  if (!asset || asset.deleted_at) return;
  if (lacksSettings(ctx, asset)) return handOver(ctx, asset, 'protect');
  if (!canInspect(ctx, asset)) return;
  const name = providerOf(asset);
  const protect = getProvider(ctx.registry, name).api?.protect;
  if (protect) await callProvider(ctx, name, () => protect(videoOf(asset), asset.visibility === 'private'));
}

/** Download URL at the provider, or when to ask for it again. NOT_FOUND if the provider offers none. */
export async function createProviderDownload(
  ctx: ProvidersContext,
  asset: Asset,
  expires: number,
): Promise<ProviderDownload> {
  const order = { videoId: videoOf(asset), filename: asset.filename, expires };
  const download = await callProvider(ctx, providerOf(asset), (api) => api.createDownloadUrl(order)).catch(
    throwServiceError,
  );
  if (!download)
    throw notFound('The video provider offers no download of this video', { reason: 'no_download' });
  return download;
}

/** True when the provider's API can report the state of this asset's video. */
export const canInspect = (ctx: ProvidersContext, asset: Asset): boolean =>
  asset.provider_video_id !== null && canTakeUploads(ctx, asset);

/**
 * Adds an event, so that the timeline explains why the asset has no video. If the provider has no storage
 * left, the asset fails at once.
 */
export async function explainFailure(
  { lifecycle }: ProvidersContext,
  asset: Asset,
  error: unknown,
): Promise<never> {
  if (!(error instanceof ProviderError)) throw error;
  const { failure, providerCode } = error;
  const event = newEvent('asset.checked', {
    source: 'service',
    code: failure.code,
    ...(providerCode !== undefined && { provider_code: providerCode }),
  });
  await lifecycle.update(asset, () => ({ set: {}, events: [event], jobs: [] }));
  if (failure.code === 'provider_quota') await lifecycle.refuseAsset(asset, failure);
  return throwServiceError(error);
}

/** 400 when the provider rejects this request, otherwise 503 with Retry-After. */
function throwServiceError(error: unknown): never {
  if (!(error instanceof ProviderError)) throw error;
  const {
    failure: { code, message },
    retryAfterSeconds,
  } = error;
  if (code === 'provider_rejected') throw badRequest(message, { field: 'provider', reason: code });
  throw new ServiceError('UNAVAILABLE', message, {
    details: { reason: code },
    cause: error,
    retryAfterSeconds: retryAfterSeconds ?? (OPERATOR_FAILURES.includes(code) ? 300 : undefined),
  });
}

/** Only the operator can solve these. */
const OPERATOR_FAILURES: readonly string[] = ['provider_credentials', 'provider_quota'];
