// Opens uploads: upload-url creates the asset and returns where to send its bytes (contract B4).
import type { ExistingAssetRule } from '@mediary/contract/enums';
import type { CreateUploadTokenRequest } from '@mediary/contract/schemas/upload-tokens';
import type { CreateUploadRequest } from '@mediary/contract/schemas/uploads';
import { type Actor, toActorData } from '../assets/asset-event.ts';
import type { Asset } from '../assets/asset.ts';
import type { CreatedUploadToken } from '../auth/tickets/upload-tokens.ts';
import { firstUploadCheckAt } from '../lifecycle/decisions/reconcile-schedule.ts';
import { takesBytes } from './byte-rules.ts';
import type { UploadsContext } from './context.ts';
import { createUnlessExists, findUploaded } from './duplicates.ts';
import { keepImportSource } from './import/import-runs.ts';
import { createAsset, toOpenAsset } from './new-asset.ts';
import { openHostedUpload } from './tus/tus-relay.ts';
import { applyGrant, toUploadBounds } from './upload-grant.ts';
import { toNewAsset } from './upload-request.ts';
import { type OpenedUpload, toUploadTargets } from './upload-targets.ts';

/** `resourceId`: the id for the asset if the request carries an Idempotency-Key. */
type CreateUploadInput = {
  readonly actor: Actor;
  readonly request: CreateUploadRequest;
  readonly resourceId: string | undefined;
  /** Whether to return the owner's asset that has the announced bytes, instead of another one. */
  readonly deduplicate?: boolean | undefined;
  readonly ifExists?: ExistingAssetRule | undefined;
};

/**
 * Creates an asset with its upload target. No target is needed for a video that its provider already stores,
 * and for bytes that the owner has uploaded before.
 */
export const createUpload = (ctx: UploadsContext, input: CreateUploadInput): Promise<OpenedUpload> =>
  createUnlessExists(ctx, {
    actor: input.actor,
    externalId: input.request.external_id,
    ifExists: input.ifExists,
    create: () => openNewUpload(ctx, input),
    useExisting: async (asset) => ({ ...(await continueUpload(ctx, asset)), isExisting: true }),
  });

async function openNewUpload(
  ctx: UploadsContext,
  { actor, request, resourceId, deduplicate = false }: CreateUploadInput,
): Promise<OpenedUpload> {
  const { newAssets: limits } = ctx.settings;
  const isService = actor.caller.kind === 'service';
  const grant = actor.caller.kind === 'user' ? actor.caller.upload : undefined;
  const upload = applyGrant(toNewAsset(request, { isService, limits, now: ctx.clocks.now() }), grant);
  // The holder of an upload token must not learn which files the owner has.
  const uploaded = deduplicate && !grant ? await findUploaded(ctx, actor.ownerUserId, upload) : undefined;
  if (uploaded) return { asset: uploaded, target: null, isExisting: true };
  const isHosted = upload.provider !== null && limits.hostedProviders.includes(upload.provider);
  const row = toOpenAsset(ctx, upload, { ownerUserId: actor.ownerUserId, resourceId });
  const newAsset = {
    ...row,
    upload_expires_at: upload.provider_video_id === null ? row.upload_expires_at : null,
    reconcile_at: isHosted ? firstUploadCheckAt(row.created_at) : null,
  };
  const asset = await createAsset(ctx, newAsset, {
    data: toActorData(actor, newAsset),
    ...(grant && { alongside: (tx) => ctx.admission.recordUploadOfToken(tx, grant, row.id) }),
  });
  if (!newAsset.upload_expires_at) return { asset: await ctx.providers.applyParked(asset), target: null };
  return isHosted ? openHostedUpload(ctx, asset) : toOwnTargets(ctx, asset);
}

/** The asset with its upload target: none where the bytes have come, or the service itself gets them. */
export async function continueUpload(ctx: UploadsContext, asset: Asset): Promise<OpenedUpload> {
  const awaitsCaller =
    takesBytes(asset, asset.attempt) &&
    asset.clip_of === null &&
    !(await keepImportSource(ctx, asset.id, ctx.clocks.now()));
  return awaitsCaller ? offerUpload(ctx, asset) : { asset, target: null };
}

/** A hosted provider reuses the video of an earlier call. */
const offerUpload = async (ctx: UploadsContext, asset: Asset): Promise<OpenedUpload> =>
  asset.provider !== null && ctx.settings.newAssets.hostedProviders.includes(asset.provider)
    ? openHostedUpload(ctx, asset)
    : toOwnTargets(ctx, asset);

export const toOwnTargets = async (ctx: UploadsContext, asset: Asset): Promise<OpenedUpload> => ({
  asset,
  ...(await toUploadTargets(ctx, asset, asset.upload_expires_at ?? ctx.clocks.now())),
});

/** Creates a token for uploads of the owner. Throws FORBIDDEN for users, and BAD_REQUEST. */
export const openUploadToken = (
  ctx: UploadsContext,
  { caller, ownerUserId }: Actor,
  request: CreateUploadTokenRequest,
): Promise<CreatedUploadToken> =>
  ctx.admission.createUploadToken(caller, {
    ...toUploadBounds(request, ctx.settings.newAssets),
    ownerUserId,
  });
