// The asset, as every endpoint returns it.
import { type Static, Type } from 'typebox';
import { ASSET_KINDS, STREAM_STATUSES, VISIBILITIES } from '../../enums.ts';
import { describeCodes, FAILURE_CODES, WARNING_CODES } from '../../failures.ts';
import { AccessRules } from './access-rules.ts';
import { Chapters } from './chapters.ts';
import { ClipSource } from './clip-source.ts';
import { AssetMedia, Rendition } from './asset-media.ts';
import { expectedTimes, NO_EXPECTED_TIMES } from './expected-times.ts';
import { AssetId, FocalPoint, nullable, ProviderName, Timestamp } from '../common.ts';

export const AssetPlayback = Type.Object(
  {
    hls: nullable(Type.String({ description: 'HLS manifest.' })),
    dash: nullable(Type.String({ description: 'DASH manifest.' })),
    thumbnail: nullable(Type.String({ description: 'JPEG.' })),
  },
  {
    $id: 'AssetPlayback',
    description:
      'Fixed URLs without a token. Private assets play through the URLs of ' +
      '`GET /api/v1/media/{id}/playback`.',
  },
);

export type AssetPlayback = Static<typeof AssetPlayback>;

const Warning = Type.Object(
  {
    code: Type.String({
      description: `An encoder may report further codes. ${describeCodes(WARNING_CODES)}`,
      examples: ['encoding_incomplete'],
    }),
    message: Type.String(),
  },
  { $id: 'Warning', description: 'A problem that does not stop playback.' },
);

const Failure = Type.Object(
  {
    code: Type.String({
      description: `An encoder may report further codes. ${describeCodes(FAILURE_CODES)}`,
      examples: ['unsupported_codec'],
    }),
    message: Type.String(),
    retryable: Type.Boolean({ description: 'Whether `POST /api/v1/media/{id}/retry` can succeed.' }),
  },
  { $id: 'Failure', description: 'Why the latest attempt failed.' },
);

const moment = (description: string) => Type.String({ format: 'date-time', description });

const pixels = (what: string) =>
  nullable(Type.Integer({ description: `${what} in pixels, as shown. Null until known.` }));

export const MAX_SHOWN_COLLECTIONS = 100;

export const Asset = Type.Object(
  {
    id: AssetId,
    owner_user_id: Type.String({ examples: ['user_42'] }),
    external_id: nullable(Type.String({ description: 'Your own id of the asset.' })),
    kind: Type.Enum([...ASSET_KINDS]),
    filename: Type.String({ examples: ['launch.mp4'] }),
    content_type: Type.String({ description: 'As sent at creation.', examples: ['video'] }),
    mime_type: Type.String({ examples: ['video/mp4'] }),
    size_bytes: nullable(Type.Integer({ description: 'Size of the stored original.' })),
    checksum_sha256: nullable(Type.String({ description: 'SHA-256 of the stored original, 64 hex digits.' })),
    duplicate_of: nullable(
      Type.String({
        format: 'uuid',
        description:
          'The earliest other asset of the owner with the same bytes, when these were stored. It stays ' +
          'when that asset is deleted.',
      }),
    ),
    clip_of: nullable(ClipSource),
    version_of: nullable(
      Type.String({
        format: 'uuid',
        description:
          'Of a replacement: the asset that gets its file once it is ready. Lists of assets leave ' +
          'replacements out.',
      }),
    ),
    visibility: Type.Enum([...VISIBILITIES]),
    stream_status: Type.Enum([...STREAM_STATUSES]),
    provider: nullable(ProviderName),
    provider_video_id: nullable(Type.String({ description: "The provider's own id of the video." })),
    playback: nullable(AssetPlayback),
    playable_at: nullable(moment('When the first rendition could play.')),
    ready_at: nullable(moment('When the last rendition was stored.')),
    progress: Type.Integer({
      minimum: 0,
      maximum: 100,
      description: 'Percent; never falls within an attempt.',
    }),
    ...expectedTimes,
    renditions: Type.Array(Rendition),
    width: pixels('Width'),
    height: pixels('Height'),
    duration_ms: nullable(
      Type.Integer({ description: 'Duration of a video in milliseconds. Null until known.' }),
    ),
    placeholder: nullable(
      Type.String({
        description:
          'A ThumbHash in Base64, to show while the image or the thumbnail loads. That of a video is ' +
          'made with its renditions; a poster chosen later does not change it.',
      }),
    ),
    media: nullable(AssetMedia),
    poster_time_ms: nullable(
      Type.Integer({
        description: 'Time of the frame that the thumbnail shows. Null: chosen by the service.',
      }),
    ),
    focal_point: nullable(FocalPoint),
    access: nullable(AccessRules),
    chapters: Chapters,
    warnings: Type.Array(Warning),
    failure: nullable(Failure),
    title: nullable(Type.String()),
    tags: Type.Array(Type.String()),
    metadata: nullable(Type.Object({}, { additionalProperties: true })),
    expires_at: nullable(moment('When the asset is deleted for good. Null: never.')),
    legal_hold: Type.Optional(
      Type.Boolean({
        description:
          'Whether the asset and its bytes are protected from deletion. Only service callers and operators ' +
          'see it, where they list, read, change, hold or restore assets.',
      }),
    ),
    collections: Type.Optional(
      Type.Array(Type.String({ format: 'uuid' }), {
        maxItems: MAX_SHOWN_COLLECTIONS,
        description:
          'Ids of the collections that the asset is in, the newest ones, at most 100. Only with ' +
          '`GET /api/v1/media/{id}?expand=collections`.',
      }),
    ),
    version: Type.Integer({
      description: 'Raised by PATCH, DELETE and another file. Send it as `If-Match: "<version>"`.',
    }),
    created_at: Timestamp,
    updated_at: Timestamp,
    uploaded_at: nullable(Timestamp),
    deleted_at: nullable(Timestamp),
  },
  { $id: 'Asset', description: 'An image, a video or an audio file.' },
);

export type Asset = Static<typeof Asset>;

const ID = '019aab7c-4d2e-7c55-9f0e-6d1f2b3c4d5e';

/** The asset of all examples: a private video that is ready. */
export const EXAMPLE_ASSET: Asset = {
  id: ID,
  owner_user_id: 'user_42',
  external_id: 'product-1042',
  kind: 'video',
  filename: 'launch.mp4',
  content_type: 'video',
  mime_type: 'video/mp4',
  size_bytes: 18_412_733,
  checksum_sha256: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
  duplicate_of: null,
  clip_of: null,
  version_of: null,
  visibility: 'private',
  stream_status: 'ready',
  provider: 'onprem',
  provider_video_id: null,
  playback: {
    hls: `https://media.example.com/api/v1/playback/${ID}/hls.m3u8`,
    dash: `https://media.example.com/api/v1/playback/${ID}/dash.mpd`,
    thumbnail: `https://media.example.com/api/v1/playback/${ID}/thumb.jpg`,
  },
  playable_at: '2026-11-22T10:16:12.000Z',
  ready_at: '2026-11-22T10:16:12.000Z',
  progress: 100,
  ...NO_EXPECTED_TIMES,
  renditions: [
    { height: 720, codec: null, dynamic_range: null, width: 1280, state: 'ready', bitrate: 1_840_000 },
    { height: 480, codec: null, dynamic_range: null, width: 854, state: 'ready', bitrate: 820_000 },
  ],
  width: 1280,
  height: 720,
  duration_ms: 62_400,
  placeholder: 'mQgGDQIniVd/h3h4d3iJh3ePhwiH',
  media: {
    container: 'mov',
    video: { codec: 'h264', fps: 29.97, hdr: false, bit_depth: 8 },
    audio: [
      {
        codec: 'aac',
        channels: 2,
        language: 'en',
        loudness_lufs: -18.2,
        true_peak_dbtp: -1.4,
        gain_db: null,
      },
    ],
    photo: null,
  },
  poster_time_ms: null,
  focal_point: null,
  access: null,
  chapters: [],
  warnings: [],
  failure: null,
  title: 'Launch day',
  tags: ['launch'],
  metadata: { order_id: 1042 },
  expires_at: null,
  version: 1,
  created_at: '2026-11-22T10:15:00.000Z',
  updated_at: '2026-11-22T10:16:12.000Z',
  uploaded_at: '2026-11-22T10:15:40.000Z',
  deleted_at: null,
};

/** The same video right after `upload-url`. */
export const EXAMPLE_NEW_ASSET: Asset = {
  ...EXAMPLE_ASSET,
  size_bytes: null,
  checksum_sha256: null,
  stream_status: 'pending_upload',
  playback: null,
  playable_at: null,
  ready_at: null,
  progress: 0,
  renditions: [],
  width: null,
  height: null,
  duration_ms: null,
  placeholder: null,
  media: null,
  updated_at: '2026-11-22T10:15:00.000Z',
  uploaded_at: null,
};
