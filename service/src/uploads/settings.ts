// Settings of uploads and imports.
import { DEFAULT_FILE_LIMITS } from '@mediary/media-rules/file-limits';
import {
  MEDIA_TYPES,
  type MediaType,
  SELECTABLE_TYPES,
  selectMediaTypes,
} from '@mediary/media-rules/media-type';
import type { Settings } from '../platform/settings/read-settings.ts';
import { integer, list, optionalInteger } from '../platform/settings/setting.ts';

const DAY_S = 86_400;

const UPLOAD_SETTINGS = {
  title: 'Uploads',
  settings: {
    mediaTypes: list(
      'ALLOWED_MIME_TYPES',
      'Media types to accept. Older video formats are accepted where they are named, such as ' +
        '`default,video/x-msvideo`: `video/x-msvideo` (AVI), `video/mpeg`, `video/x-flv`, ' +
        '`video/x-ms-wmv`, ' +
        '`video/x-ms-asf`, `video/ogg`, `application/mxf`.',
      {
        byDefault:
          '`default`: JPEG, PNG, WebP, AVIF, GIF, HEIC and HEIF where `libheif-js` is installed; MP4, ' +
          'QuickTime, 3GPP, WebM, Matroska, MPEG-TS',
        parse: parseMediaTypes,
      },
    ),
    maxUploadBytes: integer('MAX_UPLOAD_BYTES', 'Bytes of the largest upload.', {
      fallback: DEFAULT_FILE_LIMITS.maxBytes,
      min: 1,
      max: Number.MAX_SAFE_INTEGER,
    }),
    resumableUploadBytes: integer(
      'RESUMABLE_UPLOAD_BYTES',
      'Files of more announced bytes get a resumable upload in `upload`, others in `alternatives`; where ' +
        'clients send files [straight to an S3 store](guides/s3-storage.md#uploads-straight-to-the-store), ' +
        'always in `alternatives`.',
      { fallback: 100_000_000, min: 0, max: Number.MAX_SAFE_INTEGER },
    ),
    multipartUploadBytes: integer(
      'MULTIPART_UPLOAD_BYTES',
      'With an S3 store: larger files, and files of unknown size, are uploaded to the store in parts, ' +
        'others ' +
        'in one request.',
      // The limit of S3 for one request.
      { fallback: 64 * 1024 ** 2, min: 0, max: 5 * 1024 ** 3 },
    ),
    uploadTtlSeconds: integer('UPLOAD_TTL_S', 'Seconds that an upload URL is valid.', {
      fallback: DAY_S,
      min: 1,
      max: 365 * DAY_S,
    }),
    givenMaxAgeSeconds: optionalInteger(
      'UPLOAD_MAX_AGE_S',
      'Seconds after its creation at which a resumable upload or an upload in parts expires, although ' +
        'bytes ' +
        'arrive; at least `UPLOAD_TTL_S`.',
      { byDefault: '604800, or `UPLOAD_TTL_S` if that is more', min: 1, max: 365 * DAY_S },
    ),
    importLimits: {
      importConcurrency: integer(
        'IMPORT_MAX_CONCURRENT',
        'Imports that one process downloads at the same time, as many that it sends to each hosted ' +
          'provider, and as many files that it adopts.',
        { fallback: 4, min: 1, max: 64 },
      ),
      importTimeoutSeconds: integer(
        'IMPORT_TIMEOUT_S',
        'Seconds in which each step of an import, download or copy, must end.',
        // A job may run for a day.
        { fallback: DAY_S / 4, min: 1, max: DAY_S - 3600 },
      ),
    },
  },
};

export function readUploadSettings(settings: Settings) {
  const { givenMaxAgeSeconds, ...values } = settings.read(UPLOAD_SETTINGS);
  const { uploadTtlSeconds } = values;
  if (givenMaxAgeSeconds !== undefined && givenMaxAgeSeconds < uploadTtlSeconds)
    settings.problems.push(
      `UPLOAD_MAX_AGE_S must be a whole number from ${uploadTtlSeconds} to ${365 * DAY_S}`,
    );
  return {
    ...values,
    /** An upload that is open for longer expires, although bytes arrive. */
    uploadMaxAgeSeconds: givenMaxAgeSeconds ?? Math.max(7 * DAY_S, uploadTtlSeconds),
  };
}

function parseMediaTypes(named: readonly string[], report: (problem: string) => void): readonly MediaType[] {
  if (named.length === 0) return MEDIA_TYPES;
  const { types, unknown } = selectMediaTypes(named);
  for (const name of unknown)
    report(
      `ALLOWED_MIME_TYPES names "${name}", which is not supported. Supported: ${SELECTABLE_TYPES.join(', ')}`,
    );
  return types;
}
