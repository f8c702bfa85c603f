// Opens, imports, cuts, receives, completes and retries uploads (contract A1, B4).
import { createClip } from '@mediary/contract/operations/clips';
import { importMedia } from '@mediary/contract/operations/imports';
import { completeUpload, createUpload, retryAsset } from '@mediary/contract/operations/media';
import { putUpload } from '@mediary/contract/operations/playback/playback';
import { createUploadToken } from '@mediary/contract/operations/upload-tokens';
import { replaceFile } from '@mediary/contract/operations/versions';
import type { UploadToken } from '@mediary/contract/schemas/upload-tokens';
import type { OpenUpload } from '@mediary/contract/schemas/uploads';
import { toActorData } from '../assets/asset-event.ts';
import type { Guards } from '../assets/asset-guards.hook.ts';
import { type AssetViewContext, toAssetView } from '../assets/asset-view.ts';
import type { CreatedUploadToken } from '../auth/tickets/upload-tokens.ts';
import { success } from '../platform/http/envelope.ts';
import { readStreamedBody } from '../platform/http/limits/body-memory.ts';
import { type BytesRequest, bytesRoute } from '../platform/http/route.ts';
import { createClip as cutClip } from './clip/clips.ts';
import { completeUpload as complete } from './completion.ts';
import type { UploadsContext } from './context.ts';
import { createImport } from './import/imports.ts';
import { type ByteUpload, receiveUpload } from './put/byte-uploads.ts';
import { openReplacement } from './replacements.ts';
import { retryUpload } from './retry.ts';
import type { OpenedUpload } from './upload-targets.ts';
import { createUpload as openUpload, openUploadToken } from './uploads.ts';

export const uploadRoutes = (
  ctx: UploadsContext,
  { asCreator, changingAsset }: Guards,
  view: AssetViewContext,
) => [
  asCreator(createUpload, async ({ actor, body, query, resourceId }) => {
    const { deduplicate, if_exists: ifExists, expand } = query;
    const opened = await openUpload(ctx, { actor, request: body, resourceId, deduplicate, ifExists });
    return toOpenUpload(opened, expand && view);
  }),
  asCreator(createUploadToken, async ({ actor, body }) =>
    toTokenView(await openUploadToken(ctx, actor, body)),
  ),
  asCreator(importMedia, async ({ actor, body, query: { if_exists: ifExists }, resourceId }) =>
    toAssetView(await createImport(ctx, { actor, request: body, resourceId, ifExists }), view),
  ),
  changingAsset(replaceFile, async ({ actor, asset, body: request, resourceId }) =>
    toOpenUpload(await openReplacement(ctx, { actor, asset, request, resourceId }), undefined),
  ),
  changingAsset(createClip, async ({ actor, asset: source, body: request, resourceId }) =>
    toAssetView(await cutClip(ctx, { actor, source, request, resourceId }), view),
  ),
  bytesRoute(putUpload, {
    body: 'stream',
    handle: async (request, reply) => {
      const asset = await ctx.intake.inFlight.track(receiveUpload(ctx, toByteUpload(request)));
      // Clients of S3 expect it in the response to a PUT.
      reply.header('etag', `"${asset.checksum_sha256}"`);
      return success(request.id, putUpload.message ?? '', toAssetView(asset, view));
    },
  }),
  changingAsset(completeUpload, async ({ asset, actor }) =>
    toAssetView(await complete(ctx, asset, toActorData(actor, asset)), view),
  ),
  changingAsset(retryAsset, async ({ asset, actor, query: { expand } }) => {
    const opened = await retryUpload(ctx, asset, toActorData(actor, asset));
    return toOpenUpload({ ...opened, isExisting: true }, expand && view);
  }),
];

/** `view`: undefined without the asset. */
const toOpenUpload = (
  { asset, target, alternatives = [], isExisting = false }: OpenedUpload,
  view: AssetViewContext | undefined,
): OpenUpload => ({
  asset_id: asset.id,
  upload_url: target?.url ?? null,
  is_existing: isExisting,
  upload: target,
  alternatives: [...alternatives],
  ...(view && { asset: toAssetView(asset, view) }),
});

const toTokenView = ({ grant, token, expiresAt }: CreatedUploadToken): UploadToken => ({
  id: grant.id,
  token,
  owner_user_id: grant.ownerUserId,
  kinds: grant.kinds && [...grant.kinds],
  mime_types: grant.mimeTypes && [...grant.mimeTypes],
  max_bytes: grant.maxBytes,
  max_uploads: grant.maxUploads,
  visibility: grant.visibility,
  tags: [...grant.tags],
  expires_at: expiresAt.toISOString(),
});

type PutRequest = BytesRequest<{ readonly ticket?: string }, { readonly id: string }>;

function toByteUpload({ raw, headers, params, query }: PutRequest): ByteUpload {
  const length = headers['content-length'];
  return {
    assetId: params.id,
    ticket: query.ticket ?? '',
    contentType: headers['content-type'],
    contentEncoding: headers['content-encoding'],
    contentRange: headers['content-range'],
    length: length === undefined ? undefined : Number(length),
    bytes: readStreamedBody(raw),
  };
}
