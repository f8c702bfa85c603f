// Finds the asset that a request would create again: by its bytes, or by the application's own id
// (contract B4).
import type { ExistingAssetRule } from '@mediary/contract/enums';
import type { Asset } from '../assets/asset.ts';
import type { Actor } from '../assets/asset-event.ts';
import { badRequest, ServiceError } from '../platform/http/errors.ts';
import type { UploadsContext } from './context.ts';
import { findComplete, findIdByExternalId } from './duplicates.sql.ts';
import type { NewUpload } from './upload-request.ts';

/** The announced bytes of an upload. */
type AnnouncedUpload = Pick<
  NewUpload,
  'kind' | 'provider' | 'announced_sha256' | 'announced_size_bytes' | 'expires_at'
>;

/** Only among the owner's own assets: an announced digest does not prove that the caller has the bytes. */
export async function findUploaded(
  { db, lifecycle }: UploadsContext,
  ownerUserId: string,
  upload: AnnouncedUpload,
): Promise<Asset | undefined> {
  const { kind, provider, announced_sha256: sha256, announced_size_bytes: sizeBytes } = upload;
  if (sha256 === null)
    throw badRequest('deduplicate needs checksum_sha256, the SHA-256 of the file', {
      field: 'checksum_sha256',
    });
  const found = await findComplete(db, { owner: ownerUserId, sha256, expiresAt: upload.expires_at });
  if (!found) return undefined;
  if (found.kind !== kind)
    throw badRequest(
      `mime_type contradicts checksum_sha256: the file with these bytes is of kind ${found.kind}`,
      {
        field: 'mime_type',
      },
    );
  const isSame = found.provider === provider && (sizeBytes === null || sizeBytes === found.size_bytes);
  const asset = isSame ? await lifecycle.findAssetById(found.id) : undefined;
  return asset?.deleted_at === null ? asset : undefined;
}

type Creation<T> = {
  readonly actor: Actor;
  readonly externalId: string | null | undefined;
  readonly ifExists: ExistingAssetRule | undefined;
  readonly create: () => Promise<T>;
  readonly useExisting: (asset: Asset) => Promise<T>;
};

/**
 * Creates an asset. With `return`, the owner's asset that has the external id is used in its place, also if a
 * concurrent request creates it. Throws FORBIDDEN if the caller's upload token did not create that asset.
 */
export async function createUnlessExists<T>(ctx: UploadsContext, creation: Creation<T>): Promise<T> {
  const { externalId, ifExists, create, useExisting } = creation;
  if (ifExists !== 'return') return create();
  if (externalId === undefined || externalId === null)
    throw badRequest('if_exists=return needs external_id, your own id of the asset', {
      field: 'external_id',
      reason: 'required',
    });
  const existing = await findByExternalId(ctx, creation.actor, externalId);
  if (existing) return useExisting(existing);
  try {
    return await create();
  } catch (error) {
    if (!isExternalIdTaken(error)) throw error;
    const faster = await findByExternalId(ctx, creation.actor, externalId);
    if (!faster) throw error;
    return useExisting(faster);
  }
}

const isExternalIdTaken = (error: unknown): boolean =>
  error instanceof ServiceError && error.details?.reason === 'external_id_taken';

async function findByExternalId(
  { db, lifecycle, admission }: UploadsContext,
  { caller, ownerUserId }: Actor,
  externalId: string,
): Promise<Asset | undefined> {
  const id = await findIdByExternalId(db, ownerUserId, externalId);
  const asset = id === undefined ? undefined : await lifecycle.findAssetById(id);
  if (!asset || asset.deleted_at) return undefined;
  await admission.assertReadableByToken(caller, asset);
  return asset;
}
