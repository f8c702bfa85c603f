// Finds the asset that an upload would repeat, so that the bytes need not be sent again (contract B4).
import type { Asset } from '../assets/asset.ts';
import { badRequest } from '../platform/http/errors.ts';
import type { UploadsContext } from './context.ts';
import { findComplete } from './duplicates.sql.ts';
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
