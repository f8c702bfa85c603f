// Converts an upload-url request to a new asset; BAD_REQUEST names the invalid field (contract B1, B4).
import type { CreateUploadRequest } from '@mediary/contract/schemas/uploads';
import type { NewAsset, ProviderName } from '../assets/asset.ts';
import { assertEnforceable, parseAccess } from '../assets/access-rules.ts';
import { parseExpiry } from '../assets/expiry.ts';
import { assertChapters, toChapters } from '../assets/chapters.ts';
import { assertFocalPoint, roundFocalPoint } from '../assets/focal-point.ts';
import { assertTextLimits } from '../assets/text-limits.ts';
import { describeExcessSize, describeUnsupportedType } from '@mediary/media-rules/file-limits';
import { isOtherKind, type MediaType, type TimedType } from '@mediary/media-rules/media-type';
import { assertEach, badRequest, payloadTooLarge } from '../platform/http/errors.ts';
import { isPlainText, notPlainText } from '../platform/values/plain-text.ts';
import type { UploadRules } from '../providers/provider.ts';

export type NewAssetRules = {
  readonly maxUploadBytes: number;
  readonly uploadTtlSeconds: number;
  /** Finds a media type if the operator allows it. */
  readonly findMediaType: (mimeType: string) => MediaType | undefined;
  /** The names of the allowed media types. */
  readonly mimeTypes: readonly string[];
  readonly defaultProvider: ProviderName;
  /** Providers whose settings for uploads are complete. */
  readonly uploadProviders: readonly ProviderName[];
  /** Providers that store the bytes themselves. */
  readonly hostedProviders: readonly ProviderName[];
  /** Whether a proxy names the countries of viewers. */
  readonly knowsCountries: boolean;
  /** Rules of the providers that have any. */
  readonly uploadRules: ReadonlyMap<ProviderName, UploadRules>;
};

export type NewUpload = Omit<
  NewAsset,
  'id' | 'owner_user_id' | 'upload_expires_at' | 'reconcile_at' | 'clip_of' | 'created_at'
>;
type RequestContext = { readonly isService: boolean; readonly limits: NewAssetRules; readonly now: Date };

export function toNewAsset(
  request: CreateUploadRequest,
  { isService, limits, now }: RequestContext,
): NewUpload {
  assertEach([
    () => assertFilename(request),
    () => parseMediaType(request, limits),
    () => assertTextLimits(request),
    () => parseMaxDuration(request, isService),
    () => parseExpiry(request.expires_at, now),
    () => parseAccess(request.access),
  ]);
  const media = parseMediaType(request, limits);
  const videoId = isService ? parseLinkedVideo(request, media, limits) : null;
  assertFocalPoint(media, request.focal_point);
  assertChapters({ kind: media.kind, duration_ms: null }, request.chapters);
  const provider =
    media.kind === 'image' ? null : chooseProvider(request, { videoId, kind: media.kind, limits });
  const access = parseAccess(request.access);
  const isElsewhere = provider !== null && limits.hostedProviders.includes(provider);
  assertEnforceable(access, { provider, isElsewhere, knowsCountries: limits.knowsCountries });
  const maxDuration = parseMaxDuration(request, isService);
  if (provider !== null && videoId === null) assertUploadRules({ provider, maxDuration, limits });
  return {
    kind: media.kind,
    filename: request.filename,
    content_type: request.content_type,
    mime_type: media.mime,
    visibility: request.visibility ?? 'private',
    title: request.title ?? null,
    tags: [...(request.tags ?? [])],
    metadata: request.metadata ?? null,
    external_id: request.external_id ?? null,
    access,
    focal_point: request.focal_point ? roundFocalPoint(request.focal_point) : null,
    chapters: request.chapters ? toChapters(request.chapters) : null,
    expires_at: parseExpiry(request.expires_at, now),
    announced_size_bytes: parseSize(request, limits),
    announced_sha256: request.checksum_sha256?.toLowerCase() ?? null,
    max_duration_s: maxDuration?.seconds ?? null,
    provider,
    provider_video_id: videoId,
    attempt: 1,
    version_of: null,
  };
}

/** Throws BAD_REQUEST for a media type that the operator does not allow. */
export function getMediaType(
  field: string,
  mimeType: string,
  { findMediaType, mimeTypes: allowed }: Pick<NewAssetRules, 'findMediaType' | 'mimeTypes'>,
): MediaType {
  const media = findMediaType(mimeType);
  if (media) return media;
  throw badRequest(describeUnsupportedType(field, mimeType, allowed), {
    field,
    reason: 'unsupported_value',
    allowed,
  });
}

function parseMediaType({ mime_type, content_type }: CreateUploadRequest, limits: NewAssetRules): MediaType {
  const media = getMediaType('mime_type', mime_type, limits);
  if (!isPlainText(content_type)) throw notPlainText('content_type');
  if (isOtherKind(content_type, media))
    throw badRequest(
      `content_type contradicts mime_type "${media.mime}": send "${media.kind}" or the same type`,
      { field: 'content_type', allowed: [media.kind, media.mime] },
    );
  return media;
}

function assertFilename({ filename }: CreateUploadRequest): void {
  if (!isFilename(filename)) {
    throw badRequest('filename must be 1 to 255 characters, not blank, without control characters', {
      field: 'filename',
      limit: MAX_NAME_LENGTH,
    });
  }
}

const OWN_PROVIDER: ProviderName = 'onprem';
const MAX_NAME_LENGTH = 255;
const CONTROL = /\p{Cc}/u;

/** 1–255 code points, any Unicode except control characters and lone surrogates, not blank. */
export const isFilename = (name: string): boolean =>
  // A code point has at most two UTF-16 units; this check spares splitting a very long text.
  name.length <= 2 * MAX_NAME_LENGTH &&
  [...name].length <= MAX_NAME_LENGTH &&
  name.trim() !== '' &&
  name.isWellFormed() &&
  !CONTROL.test(name);

function parseSize({ size_bytes }: CreateUploadRequest, { maxUploadBytes }: NewAssetRules): number | null {
  if (size_bytes !== undefined && size_bytes > maxUploadBytes) {
    throw payloadTooLarge(describeExcessSize(maxUploadBytes), {
      field: 'size_bytes',
      limit: maxUploadBytes,
    });
  }
  return size_bytes ?? null;
}

/** The id of a video that a hosted provider already stores. */
function parseLinkedVideo(
  { provider_video_id: id, provider }: CreateUploadRequest,
  media: MediaType,
  { hostedProviders }: NewAssetRules,
): string | null {
  if (id === undefined || id === null) return null;
  if (typeof id !== 'string' || id.trim() === '' || id.length > MAX_NAME_LENGTH || !isPlainText(id)) {
    throw badRequest('provider_video_id must be text of 1 to 255 characters', {
      field: 'provider_video_id',
      limit: MAX_NAME_LENGTH,
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

type ProviderChoice = {
  readonly videoId: string | null;
  readonly kind: TimedType['kind'];
  readonly limits: NewAssetRules;
};

/** The service encodes audio itself, whatever the default for videos is. */
function chooseProvider(
  { provider }: CreateUploadRequest,
  { videoId, kind, limits }: ProviderChoice,
): ProviderName {
  if (kind === 'audio' && provider && provider !== OWN_PROVIDER)
    throw badRequest(`provider ${provider} is for videos. Audio is encoded by provider ${OWN_PROVIDER}.`, {
      field: 'provider',
      reason: 'unsupported_value',
      allowed: [OWN_PROVIDER],
    });
  const chosen = provider ?? (kind === 'audio' ? OWN_PROVIDER : limits.defaultProvider);
  if (videoId === null && !limits.uploadProviders.includes(chosen))
    throw badRequest(
      `provider ${chosen} is not configured for uploads. Configured: ${limits.uploadProviders.join(', ')}.`,
      { field: 'provider', reason: 'unsupported_value', allowed: limits.uploadProviders },
    );
  return chosen;
}

/** `exact`: what the caller sent. `seconds`: how long the video may be, with a margin. */
type MaxDuration = { readonly field: string; readonly exact: number; readonly seconds: number };

/** A service caller may set the bound itself; it follows from the announced duration otherwise. */
function parseMaxDuration(
  { duration_ms: duration, max_duration_s: bound }: CreateUploadRequest,
  isService: boolean,
): MaxDuration | undefined {
  if (isService && bound !== undefined && bound !== null) return parseBound(bound);
  if (duration === undefined) return undefined;
  const exact = duration / 1000;
  return {
    field: 'duration_ms',
    exact,
    seconds: toMaxSeconds(exact),
  };
}

/** Clients and the service read the duration of the container, which the tracks may exceed. */
const DURATION_MARGIN = { factor: 1.01, seconds: 5 };

/** How long a video of this duration may be found to be. */
export const toMaxSeconds = (seconds: number): number =>
  Math.ceil(seconds * DURATION_MARGIN.factor) + DURATION_MARGIN.seconds;

const MAX_DURATION_S = 30 * 86_400;

function parseBound(bound: unknown): MaxDuration {
  if (typeof bound !== 'number' || !Number.isInteger(bound) || bound < 1 || bound > MAX_DURATION_S)
    throw badRequest(`max_duration_s must be a whole number from 1 to ${MAX_DURATION_S}`, {
      field: 'max_duration_s',
      limit: MAX_DURATION_S,
    });
  return { field: 'max_duration_s', exact: bound, seconds: bound };
}

type UploadRuleCheck = {
  readonly provider: ProviderName;
  readonly maxDuration: MaxDuration | undefined;
  readonly limits: NewAssetRules;
};

function assertUploadRules({ provider, maxDuration, limits: { uploadRules } }: UploadRuleCheck): void {
  const { maxDurationSeconds } = uploadRules.get(provider) ?? {};
  if (maxDuration && maxDurationSeconds !== undefined && maxDuration.exact > maxDurationSeconds)
    throw badRequest(
      `${maxDuration.field} is longer than provider ${provider} accepts: ${maxDurationSeconds} seconds`,
      { field: maxDuration.field, limit: maxDurationSeconds },
    );
}
