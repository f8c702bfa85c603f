// Opens the upload of a file: creates its asset, or reopens one that has failed, and chooses a target.
import type { CreateUploadRequest, OpenUpload, UploadTarget } from '../api/uploads.ts';
import type { VersionCalls } from '../calls/versions.ts';
import { MediaryError } from '../errors.ts';
import type { AssetCalls, CreateUploadOptions } from '../media.ts';
import type { CallOptions } from '../transport.ts';
import { getMimeType } from './media-type.ts';
import type { UploadOptions } from './upload-options.ts';

export type NewUpload = {
  readonly calls: AssetCalls;
  readonly versions: Pick<VersionCalls, 'replace'>;
  readonly file: Blob;
  readonly filename: string;
  readonly options: UploadOptions;
  readonly checksum: string | undefined;
};

export function openUpload(upload: NewUpload): Promise<OpenUpload> {
  const { replaces, keep, retryOf } = upload.options;
  if (retryOf !== undefined) return reopenUpload(upload, retryOf);
  const request = toRequest(upload);
  if (replaces === undefined) return upload.calls.createUpload(request, toCreateOptions(upload));
  const { filename, content_type, mime_type, size_bytes, checksum_sha256 } = request;
  const file = { filename, content_type, mime_type, size_bytes, checksum_sha256, keep };
  return upload.versions.replace(replaces, file, {
    ...toCallOptions(upload),
    idempotencyKey: upload.options.idempotencyKey,
  });
}

/** Opens the next attempt of a failed asset. Its targets are absent if the service has the bytes. */
export const reopenUpload = (upload: NewUpload, assetId: string): Promise<OpenUpload> =>
  upload.calls.retry(assetId, { ...toCallOptions(upload), expand: 'asset' });

/** Options of the calls around the transfer: a key of the caller's own belongs to the creation alone. */
export const toCallOptions = ({ options }: Pick<NewUpload, 'options'>): CallOptions => ({
  signal: options.signal,
  timeoutMs: options.timeoutMs,
  maxRetries: options.maxRetries,
  ownerUserId: options.ownerUserId,
});

const toCreateOptions = (upload: NewUpload): CreateUploadOptions => {
  const { idempotencyKey, deduplicate, ifExists } = upload.options;
  return {
    ...toCallOptions(upload),
    idempotencyKey,
    deduplicate: deduplicate || undefined,
    ifExists,
    expand: deduplicate || ifExists === 'return' ? ('asset' as const) : undefined,
  };
};

function toRequest({ file, filename, options, checksum }: NewUpload): CreateUploadRequest {
  const mimeType = getMimeType(options.mimeType ?? file.type, filename);
  const { visibility, externalId, title, tags, metadata, focalPoint, chapters } = options;
  const { expiresAt, provider } = options;
  return {
    filename,
    content_type: mimeType.split('/')[0] ?? mimeType,
    mime_type: mimeType,
    size_bytes: file.size,
    checksum_sha256: checksum,
    duration_ms: options.durationMs,
    visibility,
    external_id: externalId,
    title,
    tags,
    metadata,
    focal_point: focalPoint,
    access: options.access,
    chapters,
    expires_at: expiresAt instanceof Date ? expiresAt.toISOString() : expiresAt,
    provider,
  };
}

const SENDABLE = new Set<string>(['put', 'tus', 's3-multipart', 'form']);

/** The first target in the order of the service that takes the file. */
export function chooseTarget(
  { upload, alternatives }: OpenUpload,
  { file, options }: NewUpload,
): UploadTarget {
  const offered = [upload, ...alternatives].filter((target) => target !== null);
  const usable = offered.filter(({ protocol, max_bytes: max }) => SENDABLE.has(protocol) && file.size <= max);
  const target = usable.find(({ protocol }) => protocol === options.protocol) ?? usable[0];
  if (target) return target;
  throw new MediaryError(`The service offers no way to upload ${file.size} bytes.`, {
    errorCode: 'UPLOAD_FAILED',
    details: { offered: offered.map(({ protocol }) => protocol) },
  });
}
