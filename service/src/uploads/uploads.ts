// Opens uploads: upload-url creates the asset and returns where to send its bytes (contract B4).
import type { UploadTarget } from '@mediary/contract/schemas/upload-targets';
import type { CreateUploadTokenRequest } from '@mediary/contract/schemas/upload-tokens';
import type { CreateUploadRequest } from '@mediary/contract/schemas/uploads';
import type { Asset } from '../assets/asset.ts';
import { type Actor, toActorData } from '../assets/asset-event.ts';
import { firstUploadCheckAt } from '../lifecycle/decisions/reconcile-schedule.ts';
import type { AssetStore } from '../lifecycle/store.ts';
import type { Bound } from '../platform/bind.ts';
import type {
  CreatedUploadToken,
  createUploadToken,
  recordUploadOfToken,
} from '../auth/tickets/upload-tokens.ts';
import { timeOf } from '../platform/values/uuid.ts';
import { uuidV7 } from '../platform/values/uuid-v7.ts';
import type { applyParked } from '../providers/hosted-videos.ts';
import type { findUploaded } from './duplicates.ts';
import { applyGrant, toUploadBounds } from './upload-grant.ts';
import { type UploadLimits, toNewAsset } from './upload-request.ts';
import { type TargetNeeds, toUploadTargets } from './upload-targets.ts';

export type TokenOperations = {
  readonly createUploadToken: Bound<typeof createUploadToken>;
  readonly recordUploadOfToken: typeof recordUploadOfToken;
};

type UploadNeeds = Omit<TargetNeeds, 'maxUploadBytes'> &
  TokenOperations & {
    readonly createAsset: AssetStore['createAsset'];
    readonly applyParked: Bound<typeof applyParked>;
    readonly findUploaded: Bound<typeof findUploaded>;
    /** Opens an upload at a hosted provider. */
    readonly prepareUpload: (asset: Asset) => Promise<OpenedUpload>;
    readonly limits: UploadLimits;
  };

/** `target` is null when no bytes are expected; `alternatives` accept the same bytes by other protocols. */
export type OpenedUpload = {
  readonly asset: Asset;
  readonly target: UploadTarget | null;
  readonly alternatives?: readonly UploadTarget[];
  /** The asset existed before the request, with the announced bytes. */
  readonly isExisting?: boolean;
};

/** `resourceId`: the id for the asset if the request carries an Idempotency-Key. */
type CreateUploadInput = {
  readonly actor: Actor;
  readonly request: CreateUploadRequest;
  readonly resourceId: string | undefined;
  /** Whether to return the owner's asset that has the announced bytes, instead of another one. */
  readonly deduplicate?: boolean | undefined;
};

/**
 * Creates an asset with its upload target. No target is needed for a video that its provider already stores,
 * and for bytes that the owner has uploaded before.
 */
export async function createUpload(
  needs: UploadNeeds,
  { actor, request, resourceId, deduplicate = false }: CreateUploadInput,
): Promise<OpenedUpload> {
  const { limits } = needs;
  const isService = actor.caller.kind === 'service';
  const grant = actor.caller.kind === 'user' ? actor.caller.upload : undefined;
  const upload = applyGrant(toNewAsset(request, { isService, limits }), grant);
  // The holder of an upload token must not learn which files the owner has.
  const uploaded = deduplicate && !grant ? await needs.findUploaded(actor.ownerUserId, upload) : undefined;
  if (uploaded) return { asset: uploaded, target: null, isExisting: true };
  const id = resourceId ?? uuidV7(needs.now().getTime());
  const now = timeOf(id);
  const expires =
    upload.provider_video_id === null ? new Date(now.getTime() + limits.uploadTtlSeconds * 1000) : null;
  const isHosted = upload.provider !== null && limits.hostedProviders.includes(upload.provider);
  const newAsset = {
    ...upload,
    id,
    owner_user_id: actor.ownerUserId,
    upload_expires_at: expires,
    reconcile_at: isHosted ? firstUploadCheckAt(now) : null,
    clip_of: null,
    created_at: now,
  };
  const asset = await needs.createAsset(
    newAsset,
    toActorData(actor, newAsset),
    grant && { alongside: (tx) => needs.recordUploadOfToken(tx, grant, id) },
  );
  if (!expires) return { asset: await needs.applyParked(asset), target: null };
  return isHosted ? needs.prepareUpload(asset) : toOwnTargets(needs, asset, expires);
}

/** The upload target of a `pending_upload` asset. A hosted provider reuses the video of an earlier call. */
export const offerUpload = async (needs: UploadNeeds, asset: Asset): Promise<OpenedUpload> =>
  asset.provider !== null && needs.limits.hostedProviders.includes(asset.provider)
    ? needs.prepareUpload(asset)
    : toOwnTargets(needs, asset, asset.upload_expires_at ?? needs.now());

async function toOwnTargets(needs: UploadNeeds, asset: Asset, expires: Date): Promise<OpenedUpload> {
  const { maxUploadBytes } = needs.limits;
  return { asset, ...(await toUploadTargets({ ...needs, maxUploadBytes }, asset, expires)) };
}

/** Creates a token for uploads of the owner. Throws FORBIDDEN for users, and BAD_REQUEST. */
export const openUploadToken = (
  needs: Pick<UploadNeeds, 'createUploadToken' | 'limits'>,
  { caller, ownerUserId }: Actor,
  request: CreateUploadTokenRequest,
): Promise<CreatedUploadToken> =>
  needs.createUploadToken(caller, { ...toUploadBounds(request, needs.limits), ownerUserId });
