// Opening an asset for its bytes and saying that they are there (contract A1, B4).
import { ProviderName } from '@mediary/contract/schemas/common';
import { type Static, Type } from 'typebox';
import { toActorData } from '../assets/actor.ts';
import type { Asset } from '../assets/asset.ts';
import type { EventData } from '../assets/asset-event.ts';
import { AssetView, nullable, Owner, toAssetView } from '../assets/asset-view.ts';
import type { Guards } from '../assets/asset-guards.hook.ts';
import type { UploadRequest } from './upload-request.ts';
import type { OpenedUpload, CreateUpload } from './uploads.ts';

type Uploads = {
  createUpload(request: CreateUpload): Promise<OpenedUpload>;
  completeUpload(asset: Asset, note: EventData): Promise<Asset>;
  retryUpload(asset: Asset, note: EventData): Promise<OpenedUpload>;
};

const Wishes = Type.Object({
  filename: Type.String({ minLength: 1, description: '1–255 code points, not blank, no control characters' }),
  content_type: Type.String({
    minLength: 1,
    maxLength: 255,
    description: 'Stored as it comes; must not contradict mime_type',
  }),
  mime_type: Type.String({ minLength: 1, maxLength: 255 }),
  size_bytes: Type.Optional(Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER })),
  checksum_sha256: Type.Optional(Type.String({ pattern: '^[0-9a-fA-F]{64}$' })),
  visibility: Type.Optional(Type.Enum(['private', 'public'])),
  provider: Type.Optional(ProviderName),
  provider_video_id: Type.Optional(
    Type.Unknown({ description: 'From service callers: a video that is at a hosted provider already' }),
  ),
  title: Type.Optional(nullable(Type.String({ maxLength: 500 }))),
  tags: Type.Optional(Type.Array(Type.String({ minLength: 1, maxLength: 100 }), { maxItems: 50 })),
  metadata: Type.Optional(
    nullable(
      Type.Object({}, { additionalProperties: true, description: "The caller's own JSON, at most 16 KiB" }),
    ),
  ),
  owner_user_id: Owner,
});

const Target = Type.Object({
  protocol: Type.Enum(['put', 'tus', 'form'], {
    description:
      'put: one request. tus: resumable, POST creates the upload at url, PATCH sends to one that is there. form: one multipart request, the file in the field `file`',
  }),
  method: Type.Enum(['PUT', 'POST', 'PATCH']),
  url: Type.String(),
  headers: Type.Record(Type.String(), Type.String(), { description: 'To be sent with every request' }),
  fields: Type.Optional(
    Type.Record(Type.String(), Type.String(), {
      description: 'Of a form, beside the file; of tus, the Upload-Metadata in plain text',
    }),
  ),
  expires_at: Type.String({ format: 'date-time' }),
  max_bytes: Type.Integer(),
});
const Started = Type.Object({
  asset_id: Type.String(),
  asset: AssetView,
  upload_url: nullable(Type.String()),
  upload: nullable(Target),
  alternatives: Type.Array(Target),
});

/** The asset with its upload target: null where no bytes are to be sent. */
const Retried = Type.Object({
  ...AssetView.properties,
  upload_url: nullable(Type.String()),
  upload: nullable(Target),
  alternatives: Type.Array(Target),
});

export const uploadRoutes = (
  uploads: Uploads,
  { asCreator, changingAsset }: Guards,
  publicBaseUrl: () => string,
) => [
  asCreator({
    method: 'POST',
    url: '/media/upload-url',
    message: 'Upload URL',
    summary: 'Makes an asset and says where to send its bytes',
    body: Wishes,
    answer: Started,
    errors: [409, 413, 503],
    handle: async ({ actor, body, madeId }) =>
      startedOf(
        await uploads.createUpload({ actor, wishes: body as UploadRequest, madeId }),
        publicBaseUrl(),
      ),
  }),
  changingAsset({
    method: 'POST',
    url: '/media/:id/complete',
    message: 'Upload complete',
    summary: 'Says that the bytes are there: they are checked, and work on them begins',
    body: Type.Object({ owner_user_id: Owner }),
    answer: AssetView,
    errors: [403, 404, 409],
    handle: async ({ asset, actor }) =>
      toAssetView(await uploads.completeUpload(asset, toActorData(actor, asset)), publicBaseUrl()),
  }),
  changingAsset({
    method: 'POST',
    url: '/media/:id/retry',
    message: 'Asset retried',
    summary:
      'Opens another attempt at a failed asset; with an upload target where its bytes were refused or never arrived. 409 where `failure.retryable` is false',
    body: Type.Object({ owner_user_id: Owner }),
    answer: Retried,
    errors: [403, 404, 409, 503],
    handle: async ({ asset, actor }) => {
      const opened = await uploads.retryUpload(asset, toActorData(actor, asset));
      const { asset: shown, asset_id: _, ...target } = startedOf(opened, publicBaseUrl());
      return { ...shown, ...target };
    },
  }),
];

const startedOf = (
  { asset, target, alternatives = [] }: OpenedUpload,
  publicBaseUrl: string,
): Static<typeof Started> => ({
  asset_id: asset.id,
  asset: toAssetView(asset, publicBaseUrl),
  upload_url: target?.url ?? null,
  upload: target,
  alternatives: [...alternatives],
});
