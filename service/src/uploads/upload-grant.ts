// The bounds of an upload token: parses those that a back end requests, and applies them to new assets
// (contract B11).
import type { CreateUploadTokenRequest } from '@mediary/contract/schemas/upload-tokens';
import type { UploadGrant } from '../auth/tickets/upload-token.ts';
import { badRequest } from '../platform/http/errors.ts';
import { getMediaType, type NewAssetRules, type NewUpload } from './upload-request.ts';

const DEFAULT_EXPIRES_IN_S = 3600;

type UploadBounds = Omit<UploadGrant, 'id' | 'ownerUserId'> & { readonly expiresIn: number };

/** Throws BAD_REQUEST for a media type that the service does not accept. */
export const toUploadBounds = (
  { kinds, mime_types, ...request }: CreateUploadTokenRequest,
  limits: Pick<NewAssetRules, 'findMediaType' | 'mimeTypes'>,
): UploadBounds => ({
  kinds: kinds ?? null,
  mimeTypes: mime_types?.map((type) => getMediaType('mime_types', type, limits).mime) ?? null,
  maxBytes: request.max_bytes ?? null,
  maxUploads: request.max_uploads ?? 1,
  visibility: request.visibility ?? 'private',
  tags: request.tags ?? [],
  expiresIn: request.expires_in ?? DEFAULT_EXPIRES_IN_S,
});

/** Adds the visibility and tags of the token. Throws BAD_REQUEST for a file outside its bounds. */
export function applyGrant(upload: NewUpload, grant: UploadGrant | undefined): NewUpload {
  if (!grant) return upload;
  assertType(upload, grant);
  assertSize(upload, grant);
  const tags = [...new Set([...upload.tags, ...grant.tags])];
  return { ...upload, tags, visibility: grant.visibility };
}

function assertType({ kind, mime_type }: NewUpload, { kinds, mimeTypes }: UploadGrant): void {
  const isAllowed = (values: readonly string[] | null, value: string) => values?.includes(value) ?? true;
  if (isAllowed(kinds, kind) && isAllowed(mimeTypes, mime_type)) return;
  const allowed = isAllowed(kinds, kind) ? (mimeTypes ?? []) : (kinds ?? []);
  throw badRequest(
    `The upload token does not allow mime_type "${mime_type}". Allowed: ${allowed.join(', ')}.`,
    {
      field: 'mime_type',
      reason: 'upload_token_bounds',
      allowed,
    },
  );
}

function assertSize({ announced_size_bytes: size }: NewUpload, { maxBytes }: UploadGrant): void {
  if (maxBytes === null || (size !== null && size <= maxBytes)) return;
  const message =
    size === null
      ? `size_bytes is required: the upload token allows files of at most ${maxBytes} bytes`
      : `size_bytes is larger than the ${maxBytes} bytes that the upload token allows`;
  throw badRequest(message, { field: 'size_bytes', reason: 'upload_token_bounds', limit: maxBytes });
}
