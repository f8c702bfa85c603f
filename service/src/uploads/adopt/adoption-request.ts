// Turns an adoption and what the store says about its source into the request of an upload (contract B11).
import { createHash } from 'node:crypto';
import type { AdoptionRequest } from '@mediary/contract/schemas/admin/adoptions';
import type { CreateUploadRequest } from '@mediary/contract/schemas/uploads';
import type { MediaType } from '@mediary/media-rules/media-type';
import { badRequest } from '../../platform/http/errors.ts';
import type { SourceObject } from '../../storage/object-store.ts';
import { describeSource } from '../import/import-source.ts';
import { emptyUpload, otherLength } from '../original/upload-errors.ts';

const MAX_EXTERNAL_ID = 255;

/** The source, unless the operator has an id of its own: a repeated request finds its asset by it. */
export function toExternalId({ external_id: given, source }: AdoptionRequest): string {
  if (given !== undefined && given !== null) return given;
  if (source.length <= MAX_EXTERNAL_ID) return source;
  return `sha256:${createHash('sha256').update(source).digest('hex')}`;
}

/** Throws BAD_REQUEST for a source of another size, or whose media type is neither given nor known. */
export function toUploadRequest(
  { source: _, delete_source: _deletes, dry_run: _dryRun, ...fields }: AdoptionRequest,
  source: SourceObject,
  mediaTypes: readonly MediaType[],
): CreateUploadRequest {
  const { sizeBytes, contentType } = source;
  if (sizeBytes === 0) throw emptyUpload();
  if (fields.size_bytes !== undefined && fields.size_bytes !== sizeBytes) throw otherLength(sizeBytes);
  const found = describeSource({ url: source.url, contentDisposition: null, contentType }, mediaTypes);
  const type = fields.mime_type ?? found.mediaType?.mime;
  if (type === undefined)
    throw badRequest('mime_type is missing, and neither the name nor the type of source tells it', {
      field: 'mime_type',
      reason: 'required',
      allowed: mediaTypes.map(({ mime }) => mime),
    });
  return {
    ...fields,
    // The file is in the store.
    provider_video_id: undefined,
    filename: fields.filename ?? found.filename,
    mime_type: type,
    content_type: fields.content_type ?? type,
    size_bytes: sizeBytes,
  };
}
