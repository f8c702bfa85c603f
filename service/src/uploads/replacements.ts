// Opens the upload of a replacement: an asset whose file another one gets once it is ready (contract B4).
import { randomUUID } from 'node:crypto';
import type { ReplaceFileRequest } from '@mediary/contract/schemas/versions';
import { type Actor, toActorData } from '../assets/asset-event.ts';
import type { Asset } from '../assets/asset.ts';
import { assertNotHeld } from '../lifecycle/decisions/legal-hold.ts';
import { decideEnd, assertProcessed } from '../library/versions/decide-versions.ts';
import { badRequest, conflict } from '../platform/http/errors.ts';
import { uuidV7 } from '../platform/values/uuid-v7.ts';
import { captionKey } from '../storage/object-key.ts';
import type { UploadsContext } from './context.ts';
import { createAsset, toOpenAsset } from './new-asset.ts';
import { toNewAsset } from './upload-request.ts';
import type { OpenedUpload } from './upload-targets.ts';
import { toOwnTargets } from './uploads.ts';

type ReplaceInput = {
  readonly actor: Actor;
  readonly asset: Asset;
  readonly request: ReplaceFileRequest;
  readonly resourceId: string | undefined;
};

/** A failed replacement is deleted. Throws CONFLICT while another one is uploaded or processed. */
export async function openReplacement(ctx: UploadsContext, input: ReplaceInput): Promise<OpenedUpload> {
  const { actor, asset, resourceId } = input;
  assertReplaceable(ctx, asset);
  const id = resourceId ?? uuidV7(ctx.clocks.now().getTime());
  const existing = await ctx.lifecycle.findReplacement(asset.id);
  // The same request again, with its Idempotency-Key.
  if (existing?.id === id) return toOwnTargets(ctx, await keepParts(ctx, existing, input));
  const upload = toReplacement(ctx, input, await ctx.lifecycle.findReplacementAttempt(asset.id));
  if (existing) await endFailed(ctx, existing);
  const newAsset = toOpenAsset(ctx, upload, { ownerUserId: asset.owner_user_id, resourceId: id });
  const data = { ...toActorData(actor, asset), version_of: asset.id };
  const created = await createAsset(ctx, newAsset, { data });
  return toOwnTargets(ctx, await keepParts(ctx, created, input));
}

function assertReplaceable({ providers }: UploadsContext, asset: Asset): void {
  if (asset.version_of !== null)
    throw conflict('The asset is a replacement itself. Replace the asset that version_of names.', {
      reason: 'is_replacement',
    });
  if (providers.isHosted(asset))
    throw conflict(
      `The provider ${asset.provider} stores this video; only files that the service stores can be replaced`,
      { reason: 'not_stored_here' },
    );
  assertNotHeld(asset);
  assertProcessed(asset);
}

/**
 * Seen by the viewers of the asset alone. Its attempt follows, so that its files have other names than those
 * of the asset, and than copies of earlier replacements.
 */
function toReplacement(ctx: UploadsContext, { asset, request, actor }: ReplaceInput, lastAttempt: number) {
  const { owner_user_id: _, keep = [], ...file } = request;
  const upload = toNewAsset(
    { ...file, visibility: asset.visibility, ...(asset.provider !== null && { provider: asset.provider }) },
    { isService: actor.caller.kind === 'service', limits: ctx.settings.newAssets, now: ctx.clocks.now() },
  );
  if (upload.kind !== asset.kind)
    throw badRequest(`mime_type is of kind ${upload.kind}, but the asset is of kind ${asset.kind}`, {
      field: 'mime_type',
      reason: 'other_kind',
      allowed: [asset.kind],
    });
  return {
    ...upload,
    access: asset.access,
    chapters: keep.includes('chapters') ? asset.chapters : null,
    focal_point: keep.includes('focal_point') ? asset.focal_point : null,
    attempt: Math.max(asset.attempt, lastAttempt) + 1,
    version_of: asset.id,
  };
}

/** Takes over what a new asset cannot have. Can be repeated, after a response that was lost. */
async function keepParts(
  { lifecycle, store }: UploadsContext,
  replacement: Asset,
  { asset, request: { keep = [] } }: ReplaceInput,
): Promise<Asset> {
  const isNew = replacement.captions === null && replacement.poster_time_ms === null;
  const kept = keep.includes('captions') ? (asset.captions ?? []) : [];
  const timeMs = keep.includes('poster') ? asset.poster_time_ms : null;
  if (!isNew || (kept.length === 0 && timeMs === null)) return replacement;
  // The files of the two versions go at different times.
  const captions = kept.map((caption) => ({ ...caption, fileId: randomUUID() }));
  for (const [index, { fileId }] of kept.entries())
    await store.copy(
      captionKey(asset.id, fileId),
      captionKey(replacement.id, captions[index]?.fileId ?? fileId),
    );
  const set = { poster_time_ms: timeMs, captions: captions.length > 0 ? captions : null };
  const updated = await lifecycle.update(replacement, () => ({ set, events: [], jobs: [] }));
  return updated?.asset ?? replacement;
}

async function endFailed({ lifecycle }: UploadsContext, replacement: Asset): Promise<void> {
  await lifecycle.update(replacement, (seen, now) => {
    if (seen.deleted_at) return undefined;
    if (seen.stream_status !== 'failed')
      throw conflict('The asset has a replacement already. Wait until it is ready, or delete it.', {
        reason: 'replacement_in_progress',
        replacement_id: seen.id,
        stream_status: seen.stream_status,
      });
    return decideEnd(seen, { reason: 'replaced_again', now });
  });
}
