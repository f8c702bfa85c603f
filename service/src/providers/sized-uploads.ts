// Opens uploads at hosted providers for files whose length is known (contract B4).
import type { UploadTarget } from '@mediary/contract/schemas/upload-targets';
import type { Asset } from '../assets/asset.ts';
import { conflict } from '../platform/http/errors.ts';
import type { ProvidersContext } from './context.ts';
import {
  applyParked,
  assetChanged,
  explainFailure,
  inspectNow,
  linkVideo,
  providerOf,
  removeVideo,
  toUploadOrder,
} from './hosted-videos.ts';
import {
  getProvider,
  type HostedApi,
  type PreparedUpload,
  ProviderError,
  type TusRelay,
} from './provider.ts';
import { callProvider } from './provider-calls.ts';

/**
 * Creates a tus upload once the length of the file is known. Its video replaces the one that `prepareUpload`
 * created.
 */
export async function createTusUpload(
  ctx: ProvidersContext,
  asset: Asset,
  size: number,
): Promise<UploadTarget> {
  const order = { ...toUploadOrder(ctx, asset), size };
  if (asset.provider_video_id !== null && (await inspectNow(ctx, asset)).state === 'known')
    throw conflict('The bytes of this asset are already stored', { reason: 'already_uploaded' });
  const created = await callProvider(ctx, providerOf(asset), (api) => getTusRelay(api).create(order)).catch(
    (error: unknown) => explainFailure(ctx, asset, error),
  );
  if (!(await linkInstead(ctx, asset, created))) throw assetChanged();
  return created.target;
}

function getTusRelay({ url, tusRelay }: HostedApi): TusRelay {
  if (!tusRelay) throw new Error(`the provider at ${url} takes no relayed tus uploads`);
  return tusRelay;
}

/** A file that the service sends itself. `maxDurationSeconds`: null if its duration is unknown. */
type FileUpload = { readonly sizeBytes: number; readonly maxDurationSeconds: number | null };

/** `stored`: an earlier upload has all bytes. `over`: the upload of the asset is closed. */
type OpenedFileUpload = Pick<PreparedUpload, 'videoId' | 'target'> | 'stored' | 'over';

/**
 * Opens an upload to a new video, for a file that the service has. Removes the video of an earlier call, with
 * its bytes. Throws ProviderError.
 */
export async function openFileUpload(
  ctx: ProvidersContext,
  asset: Asset,
  { sizeBytes: size, maxDurationSeconds }: FileUpload,
): Promise<OpenedFileUpload> {
  const { videoId, ...order } = toUploadOrder(ctx, asset);
  const name = providerOf(asset);
  const isStored = videoId !== null && (await callProvider(ctx, name, (api) => hasBytes(api, videoId)));
  if (isStored) return 'stored';
  const announced = order.maxDurationSeconds;
  const fileOrder = { ...order, size, maxDurationSeconds: announced ?? maxDurationSeconds, videoId: null };
  const created = await callProvider(ctx, name, (api) =>
    // A tus upload can continue after a cut; a form cannot.
    api.tusRelay ? api.tusRelay.create(fileOrder) : api.prepareUpload(fileOrder),
  );
  return (await linkInstead(ctx, asset, created)) ? created : 'over';
}

/** True also if the upload is complete, and only the response to it was lost. */
async function hasBytes(api: HostedApi, videoId: string): Promise<boolean> {
  const inspection = await api.inspect(videoId);
  return inspection.state === 'known' && inspection.report.event !== 'failed';
}

/** The longest video that the provider of an asset accepts, in seconds; undefined without a limit. */
export const findMaxDuration = ({ registry }: ProvidersContext, asset: Asset): number | undefined =>
  getProvider(registry, providerOf(asset)).api?.uploadRules?.maxDurationSeconds;

/**
 * Links a new video and removes the one that it replaces. If the asset changed, removes the new one instead
 * and returns false. The orphan job removes videos whose removal fails here.
 */
async function linkInstead(ctx: ProvidersContext, asset: Asset, created: PreparedUpload): Promise<boolean> {
  const linked = await linkVideo(ctx, asset, created);
  if (linked) await applyParked(ctx, linked);
  const unused = linked ? asset : { ...asset, provider_video_id: created.videoId };
  await removeVideo(ctx, unused).catch((error: unknown) => {
    if (!(error instanceof ProviderError)) throw error;
  });
  return linked !== undefined;
}
