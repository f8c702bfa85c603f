// Opens uploads at hosted providers for files whose length is known (contract B4).
import type { UploadTarget } from '@mediary/contract/schemas/upload-targets';
import type { Asset } from '../assets/asset.ts';
import { conflict } from '../platform/errors.ts';
import {
  applyParked,
  explainFailure,
  inspectNow,
  linkVideo,
  type ProviderNeeds,
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
import { assetChanged, providerOf } from './video-refs.ts';

/**
 * Creates a tus upload of a file whose length is known now, and links its video in place of the one that
 * `prepareUpload` created.
 */
export async function createTusUpload(
  needs: ProviderNeeds,
  asset: Asset,
  size: number,
): Promise<UploadTarget> {
  const order = { ...toUploadOrder(needs, asset), size };
  if (asset.provider_video_id !== null && (await inspectNow(needs, asset)).state === 'known')
    throw conflict('The bytes of this asset are already stored', { reason: 'already_uploaded' });
  const created = await needs
    .call(providerOf(asset), (api) => getTusRelay(api).create(order))
    .catch((error: unknown) => explainFailure(needs, asset, error));
  if (!(await linkInstead(needs, asset, created))) throw assetChanged();
  return created.target;
}

function getTusRelay({ url, tusRelay }: HostedApi): TusRelay {
  if (!tusRelay) throw new Error(`the provider at ${url} takes no relayed tus uploads`);
  return tusRelay;
}

/** A file that the service sends itself. `maxDurationSeconds`: null if its duration is unknown. */
type FileUpload = { readonly sizeBytes: number; readonly maxDurationSeconds: number | null };

/** `stored`: an earlier upload has all bytes. `over`: the asset takes no upload any more. */
type OpenedFileUpload = Pick<PreparedUpload, 'videoId' | 'target'> | 'stored' | 'over';

/**
 * Opens an upload for a file that the service has, to a new video: the one of an earlier call is removed,
 * with the bytes that it may have. Throws ProviderError.
 */
export async function openFileUpload(
  needs: ProviderNeeds,
  asset: Asset,
  { sizeBytes: size, maxDurationSeconds }: FileUpload,
): Promise<OpenedFileUpload> {
  const { videoId, ...order } = toUploadOrder(needs, asset);
  const name = providerOf(asset);
  const isStored = videoId !== null && (await needs.call(name, (api) => hasBytes(api, videoId)));
  if (isStored) return 'stored';
  const announced = order.maxDurationSeconds;
  const fileOrder = { ...order, size, maxDurationSeconds: announced ?? maxDurationSeconds, videoId: null };
  const created = await needs.call(name, (api) =>
    // It continues after a cut, as the form of the same provider does not.
    api.tusRelay ? api.tusRelay.create(fileOrder) : api.prepareUpload(fileOrder),
  );
  return (await linkInstead(needs, asset, created)) ? created : 'over';
}

/** A lost response to the last byte leaves a complete upload. */
async function hasBytes(api: HostedApi, videoId: string): Promise<boolean> {
  const inspection = await api.inspect(videoId);
  return inspection.state === 'known' && inspection.report.event !== 'failed';
}

/** The longest video that the provider of an asset accepts, in seconds; undefined without a limit. */
export const findMaxDuration = ({ providers }: ProviderNeeds, asset: Asset): number | undefined =>
  getProvider(providers, providerOf(asset)).api?.uploadRules?.maxDurationSeconds;

/**
 * Links a new video, and removes the one that it replaces. False, and the new video is removed, if the asset
 * changed. A video whose removal fails is left to the orphan job.
 */
async function linkInstead(needs: ProviderNeeds, asset: Asset, created: PreparedUpload): Promise<boolean> {
  const linked = await linkVideo(needs, asset, created);
  if (linked) await applyParked(needs, linked);
  const unused = linked ? asset : { ...asset, provider_video_id: created.videoId };
  await removeVideo(needs, unused).catch((error: unknown) => {
    if (!(error instanceof ProviderError)) throw error;
  });
  return linked !== undefined;
}
