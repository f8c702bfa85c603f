// Creates clips: assets whose bytes the service cuts from the original of another video (contract B4).
import type { ClipRequest } from '@mediary/contract/schemas/clips';
import { type Actor, toActorData } from '../../assets/asset-event.ts';
import type { Asset } from '../../assets/asset.ts';
import { findMediaType } from '@mediary/media-rules/media-type';
import { badRequest } from '../../platform/http/errors.ts';
import type { UploadsContext } from '../context.ts';
import { createAsset, toOpenAsset } from '../new-asset.ts';
import { toNewAsset } from '../upload-request.ts';
import { toClipSource, toClipUpload } from './clip-request.ts';
import { insertClip } from './clips.sql.ts';

/** `resourceId`: the id for the new asset if the request carries an Idempotency-Key. */
type CreateClipInput = {
  readonly actor: Actor;
  readonly source: Asset;
  readonly request: ClipRequest;
  readonly resourceId: string | undefined;
};

/** Creates the asset for the owner of the source, and in the same transaction the job that cuts it. */
export async function createClip(
  ctx: UploadsContext,
  { actor, source, request, resourceId }: CreateClipInput,
): Promise<Asset> {
  // A clip is a file of our own, so ALLOWED_MIME_TYPES does not apply.
  const limits = { ...ctx.settings.newAssets, findMediaType };
  const clipOf = toClipSource(source, request, ctx.providers.isHosted(source));
  const upload = toNewAsset(toClipUpload(source, request), {
    isService: false,
    limits,
    now: ctx.clocks.now(),
  });
  if (upload.provider !== null && limits.hostedProviders.includes(upload.provider))
    throw badRequest(
      `A clip cannot be a video of provider ${upload.provider}, which takes uploads itself. Omit provider.`,
      { field: 'provider' },
    );
  const owner = source.owner_user_id;
  const newAsset = { ...toOpenAsset(ctx, upload, { ownerUserId: owner, resourceId }), clip_of: clipOf };
  const { id } = newAsset;
  return createAsset(ctx, newAsset, {
    data: { ...toActorData(actor, newAsset), clip_of: clipOf },
    alongside: async (tx) => {
      await insertClip(tx, id);
      await ctx.jobs.sendFor(tx, owner, { name: 'clip-asset', payload: { assetId: id, attempt: 1 } });
    },
  });
}
