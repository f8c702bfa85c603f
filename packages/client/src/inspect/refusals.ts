// Decides why the service would not accept a file, by the rules that it has itself.
import { FAILURE_CODES } from '@mediary/contract/failures';
import {
  DEFAULT_FILE_LIMITS,
  describeExcessDuration,
  describeExcessSize,
  describeUnsupportedType,
  MAX_VIDEO_PIXELS,
} from '@mediary/media-rules/file-limits';
import { checkFileType, type FileType } from '@mediary/media-rules/magic-bytes';
import { findMediaType, MEDIA_TYPES, selectMediaTypes } from '@mediary/media-rules/media-type';
import type { FailureCode } from '../api/errors.ts';
import type { FileLimits, FileRefusal } from './inspection.ts';

type Claims = {
  readonly mimeType: string | null;
  readonly sizeBytes: number;
  readonly detected: FileType;
};

const toContentRefusal = (code: FailureCode): FileRefusal => ({ code, message: FAILURE_CODES[code] });

/** What the service refuses before it has the bytes, or by their beginning. */
export function refuseClaims({ mimeType, sizeBytes, detected }: Claims, limits: FileLimits): FileRefusal[] {
  const types = limits.mimeTypes ? selectMediaTypes(limits.mimeTypes).types : MEDIA_TYPES;
  const allowed = types.map(({ mime }) => mime);
  const media = findMediaType(mimeType ?? '', types);
  const refusals: FileRefusal[] = [];
  if (!media) {
    const message =
      mimeType === null
        ? `The media type of the file is not known. Supported: ${allowed.join(', ')}.`
        : describeUnsupportedType('mime_type', mimeType, allowed);
    refusals.push({ code: 'unsupported_value', message, field: 'mime_type', allowed });
  }
  const limit = limits.maxBytes ?? DEFAULT_FILE_LIMITS.maxBytes;
  if (sizeBytes > limit)
    refusals.push({
      code: 'size_above_limit',
      message: describeExcessSize(limit),
      field: 'size_bytes',
      limit,
    });
  const verdict = media ? checkFileType(media, detected) : 'ok';
  if (verdict !== 'ok') refusals.push(toContentRefusal(verdict));
  return refusals;
}

export const refuseVideo = (code: FailureCode): FileRefusal =>
  code === 'picture_too_large'
    ? { ...toContentRefusal(code), limit: MAX_VIDEO_PIXELS }
    : toContentRefusal(code);

export function refuseDuration(
  durationMs: number | null,
  { maxDurationSeconds: limit = DEFAULT_FILE_LIMITS.maxDurationSeconds }: FileLimits,
): FileRefusal[] {
  const seconds = (durationMs ?? 0) / 1000;
  if (seconds <= limit) return [];
  return [{ code: 'too_long', message: describeExcessDuration(seconds, limit), limit }];
}

/** `pixels`: of all frames. */
export function refusePixels(
  pixels: number,
  { maxImagePixels: limit = DEFAULT_FILE_LIMITS.maxImagePixels }: FileLimits,
): FileRefusal[] {
  return pixels <= limit ? [] : [{ ...toContentRefusal('picture_too_large'), limit }];
}
