// Operations on provider videos: create, link, inspect, protect and remove (contract B4–B6).
import type { Asset } from '../assets/asset.ts';
import { newEvent } from '../assets/asset-event.ts';
import type { findAssetById } from '../assets/asset-lookup.ts';
import { firstUploadCheckAt } from '../lifecycle/reconcile-schedule.ts';
import type { applyReport, refuseAsset } from '../lifecycle/reports.ts';
import type { AssetStore } from '../lifecycle/store.ts';
import type { StreamReport } from '../lifecycle/stream-report.ts';
import type { Bound } from '../platform/bind.ts';
import { badRequest, conflict, notFound, ServiceError, toReason } from '../platform/errors.ts';
import type { Database } from '../platform/postgres/database.ts';
import { hostedUploadId } from '../storage/upload-id.ts';
import type { handOver, lacksSettings } from './handover.ts';
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
import type { CallNeeds, CallProvider } from './provider-calls.ts';
import { assetChanged, providerOf, videoOf } from './video-refs.ts';

export type ProviderNeeds = Pick<CallNeeds, 'providers' | 'now'> & {
  readonly call: CallProvider;
  readonly db: Database;
  readonly update: AssetStore['update'];
  readonly applyReport: Bound<typeof applyReport>;
  readonly refuseAsset: Bound<typeof refuseAsset>;
  readonly findAssetById: Bound<typeof findAssetById>;
  readonly maxUploadBytes: number;
  readonly lacksSettings: Bound<typeof lacksSettings>;
  readonly handOver: Bound<typeof handOver>;
};

type OpenedUpload = { readonly asset: Asset } & Pick<PreparedUpload, 'target' | 'alternatives'>;

/**
 * Creates an empty video for a stored asset and links both. The reconcile job finds videos that were never
 * linked.
 */
export async function prepareUpload(needs: ProviderNeeds, asset: Asset): Promise<OpenedUpload> {
  const order = toUploadOrder(needs, asset);
  const { videoId, target, alternatives } = await needs
    .call(providerOf(asset), (api) => api.prepareUpload(order))
    .catch((error: unknown) => explainFailure(needs, asset, error));
  const linked =
    videoId === asset.provider_video_id ? asset : await linkVideo(needs, asset, { videoId, target });
  if (!linked) throw assetChanged();
  return { asset: await applyParked(needs, linked), target, ...(alternatives && { alternatives }) };
}

export function toUploadOrder({ maxUploadBytes, now }: ProviderNeeds, asset: Asset): UploadOrder {
  if (asset.stream_status !== 'pending_upload')
    throw conflict('The upload is closed', { reason: toReason(asset.failure?.code ?? asset.stream_status) });
  return {
    assetId: asset.id,
    filename: asset.filename,
    mimeType: asset.mime_type,
    size: asset.announced_size_bytes,
    maxBytes: maxUploadBytes,
    maxDurationSeconds: asset.max_duration_s,
    isPrivate: asset.visibility === 'private',
    expires: Math.floor((asset.upload_expires_at ?? now()).getTime() / 1000),
    videoId: asset.provider_video_id,
  };
}

/**
 * Links a video, and records the upload to it. Undefined if the asset was linked to another video, completed
 * or deleted in the meantime.
 */
export async function linkVideo(
  { update }: ProviderNeeds,
  asset: Asset,
  { videoId, target }: Pick<PreparedUpload, 'videoId' | 'target'>,
): Promise<Asset | undefined> {
  const hosted = { provider: providerOf(asset), video_id: videoId, protocol: target.protocol };
  const updated = await update(asset, (seen, now) =>
    seen.provider_video_id === asset.provider_video_id &&
    seen.stream_status === 'pending_upload' &&
    seen.deleted_at === null
      ? {
          set: {
            provider_video_id: videoId,
            // Imports wait for their video without a check.
            reconcile_at: seen.reconcile_at ?? firstUploadCheckAt(now),
          },
          events: [newEvent('asset.updated', { source: 'service', fields: ['provider_video_id'] })],
          jobs: [],
          direct: { id: hostedUploadId(asset), protocol: 'hosted', target: hosted },
        }
      : undefined,
  );
  return updated?.decision && updated.asset;
}

/** Must be called after the link is committed. Returns the asset after applying the parked reports. */
export async function applyParked(needs: ProviderNeeds, asset: Asset): Promise<Asset> {
  if (!asset.provider || asset.provider_video_id === null) return asset;
  const provider = getProvider(needs.providers, asset.provider);
  const deliveries = await listParkedDeliveries(needs.db, asset.provider, asset.provider_video_id);
  for (const delivery of deliveries) {
    const parsed = provider.parse(delivery.body, delivery);
    if ('report' in parsed) await needs.applyReport(parsed.report, { ref: { assetId: asset.id }, delivery });
  }
  return deliveries.length > 0 ? ((await needs.findAssetById(asset.id)) ?? asset) : asset;
}

/** Requests the current state of an asset's video. Throws UNAVAILABLE. */
export const inspectNow = (needs: ProviderNeeds, asset: Asset): Promise<Inspection> =>
  needs.call(providerOf(asset), (api) => api.inspect(videoOf(asset))).catch(throwServiceError);

/**
 * Applies a report of the provider's API in the same way as a webhook. `asset` is the one that was inspected:
 * the report does not count for a later attempt, which may have another video.
 */
export async function applyInspection(
  needs: ProviderNeeds,
  asset: Asset,
  report: StreamReport,
): Promise<Asset> {
  await needs.applyReport({ ...report, attempt: asset.attempt }, { ref: { assetId: asset.id } });
  return (await needs.findAssetById(asset.id)) ?? asset;
}

/**
 * Starts a new encoding at the provider; CONFLICT when its API does not support that or is not configured.
 */
export async function restart(needs: ProviderNeeds, asset: Asset): Promise<void> {
  const name = providerOf(asset);
  const { api } = getProvider(needs.providers, name);
  if (!api?.restart)
    throw conflict(
      api
        ? `The provider ${name} cannot encode a video again. Upload it again.`
        : `The API of the provider ${name} is not configured, so it cannot encode this video again.`,
      { reason: 'provider_cannot_retry', retryable: false },
    );
  const { restart: restartVideo } = api;
  await needs.call(name, () => restartVideo(videoOf(asset))).catch(throwServiceError);
}

/**
 * Removes the provider's video, unless another asset uses it. Throws ProviderError, so that the job is
 * retried.
 */
export async function removeVideo(needs: ProviderNeeds, asset: Asset): Promise<void> {
  if (needs.lacksSettings(asset)) return needs.handOver(asset, 'remove');
  if (!canInspect(needs, asset)) return;
  const user = await findActiveAsset(needs.db, providerOf(asset), videoOf(asset));
  if (user === undefined || user.id === asset.id)
    await needs.call(providerOf(asset), (api) => api.remove(videoOf(asset)));
}

/** Removes the provider's video within a request: throws UNAVAILABLE. */
export const discardVideo = (needs: ProviderNeeds, asset: Asset): Promise<void> =>
  removeVideo(needs, asset).catch(throwServiceError);

/**
 * Job: updates the video's access protection, if the provider supports it per video. Throws ProviderError.
 */
export async function protectVideo(needs: ProviderNeeds, assetId: string): Promise<void> {
  const asset = await needs.findAssetById(assetId);
  if (!asset || asset.deleted_at) return;
  if (needs.lacksSettings(asset)) return needs.handOver(asset, 'protect');
  if (!canInspect(needs, asset)) return;
  const protect = getProvider(needs.providers, providerOf(asset)).api?.protect;
  if (protect)
    await needs.call(providerOf(asset), () => protect(videoOf(asset), asset.visibility === 'private'));
}

/** ProviderDownload URL of the provider, or when to ask for it again; NOT_FOUND when it offers none. */
export async function createProviderDownload(
  needs: ProviderNeeds,
  asset: Asset,
  expires: number,
): Promise<ProviderDownload> {
  const order = { videoId: videoOf(asset), filename: asset.filename, expires };
  const download = await needs
    .call(providerOf(asset), (api) => api.createDownloadUrl(order))
    .catch(throwServiceError);
  if (!download)
    throw notFound('The video provider offers no download of this video', { reason: 'no_download' });
  return download;
}

/** True when the provider's API can report the state of this asset's video. */
export const canInspect = (needs: Pick<ProviderNeeds, 'providers'>, asset: Asset): boolean =>
  asset.provider_video_id !== null && canTakeUploads(needs, asset);

/**
 * Adds an event, so that the timeline explains why the asset has no video. A provider without storage is not
 * asked again: the asset fails at once.
 */
export async function explainFailure(needs: ProviderNeeds, asset: Asset, error: unknown): Promise<never> {
  if (!(error instanceof ProviderError)) throw error;
  const { failure, providerCode } = error;
  const event = newEvent('asset.checked', {
    source: 'service',
    code: failure.code,
    ...(providerCode !== undefined && { provider_code: providerCode }),
  });
  await needs.update(asset, () => ({ set: {}, events: [event], jobs: [] }));
  if (failure.code === 'provider_quota') await needs.refuseAsset(asset, failure);
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

/** Only the operator can end these. */
const OPERATOR_FAILURES: readonly string[] = ['provider_credentials', 'provider_quota'];
