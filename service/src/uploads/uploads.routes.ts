// Opens, completes and retries uploads (contract A1, B4).
import { completeUpload, createUpload, retryAsset } from '@mediary/contract/operations/media';
import type { OpenUpload } from '@mediary/contract/schemas/uploads';
import type { Static } from 'typebox';
import { toActorData } from '../assets/actor.ts';
import type { Asset } from '../assets/asset.ts';
import type { EventData } from '../assets/asset-event.ts';
import { toAssetView } from '../assets/asset-view.ts';
import type { Guards } from '../assets/asset-guards.hook.ts';
import type { UploadRequest } from './upload-request.ts';
import type { OpenedUpload, CreateUpload } from './uploads.ts';

type Uploads = {
  createUpload(request: CreateUpload): Promise<OpenedUpload>;
  completeUpload(asset: Asset, note: EventData): Promise<Asset>;
  retryUpload(asset: Asset, note: EventData): Promise<OpenedUpload>;
};

export const uploadRoutes = (
  uploads: Uploads,
  { asCreator, changingAsset }: Guards,
  publicBaseUrl: () => string,
) => [
  asCreator(createUpload, async ({ actor, body, madeId }) =>
    toOpenUpload(
      await uploads.createUpload({ actor, wishes: body as UploadRequest, madeId }),
      publicBaseUrl(),
    ),
  ),
  changingAsset(completeUpload, async ({ asset, actor }) =>
    toAssetView(await uploads.completeUpload(asset, toActorData(actor, asset)), publicBaseUrl()),
  ),
  changingAsset(retryAsset, async ({ asset, actor }) => {
    const opened = await uploads.retryUpload(asset, toActorData(actor, asset));
    const { asset: shown, asset_id: _, ...target } = toOpenUpload(opened, publicBaseUrl());
    return { ...shown, ...target };
  }),
];

const toOpenUpload = (
  { asset, target, alternatives = [] }: OpenedUpload,
  publicBaseUrl: string,
): Static<typeof OpenUpload> => ({
  asset_id: asset.id,
  asset: toAssetView(asset, publicBaseUrl),
  upload_url: target?.url ?? null,
  upload: target,
  alternatives: [...alternatives],
});
