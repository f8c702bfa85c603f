// Turns what an upload-url request asks for into a new asset, or names the field that will not do (contract B1, B4).
import type { Visibility } from '@mediary/contract/enums';
import type { NewAsset, ProviderName } from '../assets/asset.ts';
import { isPlainText, assertTextLimits } from '../assets/text-limits.ts';
import { contradicts, type MediaType } from '../media/media-type.ts';
import { badRequest, payloadTooLarge, type ServiceError } from '../platform/errors.ts';
import { isFilename } from './content-check.ts';

/** The body of upload-url, shaped by its schema. */
export type UploadRequest = {
  readonly filename: string;
  readonly content_type: string;
  readonly mime_type: string;
  readonly size_bytes?: number;
  readonly checksum_sha256?: string;
  readonly visibility?: Visibility;
  readonly provider?: ProviderName;
  readonly provider_video_id?: unknown;
  readonly title?: string | null;
  readonly tags?: readonly string[];
  readonly metadata?: object | null;
};

export type UploadLimits = {
  readonly maxUploadBytes: number;
  readonly uploadTtlSeconds: number;
  /** The type, where the operator allows it. */
  readonly mediaTypeOf: (mimeType: string) => MediaType | undefined;
  /** The names of those types. */
  readonly mimeTypes: readonly string[];
  readonly defaultProvider: ProviderName;
  /** Providers that take uploads as they are configured now. */
  readonly uploadProviders: readonly ProviderName[];
  /** Those that have the bytes themselves. */
  readonly hostedProviders: readonly ProviderName[];
};

type NewUpload = Omit<NewAsset, 'id' | 'owner_user_id' | 'upload_expires_at' | 'reconcile_at' | 'created_at'>;
type Context = { readonly isService: boolean; readonly limits: UploadLimits };

export function toNewAsset(wishes: UploadRequest, { isService, limits }: Context): NewUpload {
  const media = mediaOf(wishes, limits);
  refuseText(wishes);
  assertTextLimits(wishes);
  const videoId = isService ? linkedVideo(wishes, media, limits) : null;
  return {
    kind: media.kind,
    filename: wishes.filename,
    content_type: wishes.content_type,
    mime_type: media.mime,
    visibility: wishes.visibility ?? 'private',
    title: wishes.title ?? null,
    tags: [...(wishes.tags ?? [])],
    metadata: (wishes.metadata ?? null) as NewUpload['metadata'],
    announced_size_bytes: sizeOf(wishes, limits),
    announced_sha256: wishes.checksum_sha256?.toLowerCase() ?? null,
    provider: media.kind === 'image' ? null : providerOf(wishes, { videoId, limits }),
    provider_video_id: videoId,
  };
}

function mediaOf({ mime_type, content_type }: UploadRequest, limits: UploadLimits): MediaType {
  const media = limits.mediaTypeOf(mime_type);
  if (!media) throw unsupportedType(mime_type, limits.mimeTypes);
  if (contradicts(content_type, media))
    throw badRequest('content_type contradicts mime_type', { field: 'content_type' });
  return media;
}

const unsupportedType = (mimeType: string, allowed: readonly string[]): ServiceError =>
  badRequest(`mime_type ${JSON.stringify(mimeType)} is not supported. Supported: ${allowed.join(', ')}.`, {
    field: 'mime_type',
    allowed,
  });

function refuseText({ filename, content_type }: UploadRequest): void {
  if (!isFilename(filename)) {
    throw badRequest('filename must be 1 to 255 characters, not blank, without control characters', {
      field: 'filename',
      limit: 255,
    });
  }
  if (!isPlainText(content_type))
    throw badRequest('content_type must be plain text', { field: 'content_type' });
}

function sizeOf({ size_bytes }: UploadRequest, { maxUploadBytes }: UploadLimits): number | null {
  if (size_bytes !== undefined && size_bytes > maxUploadBytes) {
    throw payloadTooLarge('size_bytes is over the maximum', {
      field: 'size_bytes',
      max_bytes: maxUploadBytes,
    });
  }
  return size_bytes ?? null;
}

/** A video that is at a hosted provider already. */
function linkedVideo(
  { provider_video_id: id, provider }: UploadRequest,
  media: MediaType,
  { hostedProviders }: UploadLimits,
): string | null {
  if (id === undefined || id === null) return null;
  if (typeof id !== 'string' || id.trim() === '' || id.length > 255 || !isPlainText(id)) {
    throw badRequest('provider_video_id must be text of 1 to 255 characters', {
      field: 'provider_video_id',
      limit: 255,
    });
  }
  if (media.kind !== 'video')
    throw badRequest('provider_video_id needs a video mime_type', { field: 'mime_type' });
  if (!provider || !hostedProviders.includes(provider))
    throw badRequest(`provider_video_id needs provider ${hostedProviders.join(' or ')}`, {
      field: 'provider',
    });
  return id;
}

function providerOf(
  { provider }: UploadRequest,
  { videoId, limits }: { videoId: string | null; limits: UploadLimits },
): ProviderName {
  const chosen = provider ?? limits.defaultProvider;
  if (videoId === null && !limits.uploadProviders.includes(chosen))
    throw badRequest(`provider ${chosen} is not configured for uploads`, { field: 'provider' });
  return chosen;
}
