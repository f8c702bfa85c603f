// The asset as the API shows it (contract B1).
import { ProviderName } from '@mediary/contract/schemas/common';
import { type Static, type TSchema, Type } from 'typebox';
import type { ShownAsset } from './asset.ts';
import type { Manifest } from './playback-manifest.ts';

/** `T` or null, in the form that JSON Schema validators and generators both read. */
export const nullable = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()]);

/** In every body and query that names an owner; free of a type, because a user's own value is ignored. */
export const Owner = Type.Optional(
  Type.Unknown({ description: 'Required of service callers: whose asset it is. Ignored from users.' }),
);

const Time = Type.String({ format: 'date-time' });

export const PlaybackView = Type.Object({
  hls: nullable(Type.String()),
  dash: nullable(Type.String()),
  thumbnail: nullable(Type.String()),
});

export const AssetView = Type.Object(
  {
    id: Type.String({ format: 'uuid' }),
    owner_user_id: Type.String(),
    kind: Type.Enum(['image', 'video']),
    filename: Type.String(),
    content_type: Type.String(),
    mime_type: Type.String(),
    size_bytes: nullable(Type.Integer()),
    checksum_sha256: nullable(Type.String()),
    visibility: Type.Enum(['private', 'public']),
    stream_status: Type.Enum(['pending_upload', 'processing', 'ready', 'failed']),
    provider: nullable(ProviderName),
    provider_video_id: nullable(Type.String()),
    playback: nullable(PlaybackView),
    playable_at: nullable(Time),
    completed_at: nullable(Time),
    progress: Type.Integer({ minimum: 0, maximum: 100 }),
    renditions: Type.Array(
      Type.Object({
        height: Type.Integer(),
        width: Type.Optional(Type.Integer()),
        state: Type.Enum(['queued', 'encoding', 'failed', 'ready']),
        bitrate: Type.Optional(nullable(Type.Number())),
      }),
    ),
    width: nullable(Type.Integer()),
    height: nullable(Type.Integer()),
    duration_ms: nullable(Type.Integer()),
    placeholder: nullable(Type.String()),
    poster_time_ms: nullable(
      Type.Integer({
        description:
          'The time of the picture that the thumbnail of a video shows; null where the service chooses',
      }),
    ),
    warnings: Type.Array(Type.Object({ code: Type.String(), message: Type.String() }), {
      description:
        'Problems that leave the asset usable, for example `audio_unsupported`: the video plays without sound',
    }),
    failure: nullable(
      Type.Object({ code: Type.String(), message: Type.String(), retryable: Type.Boolean() }),
    ),
    title: nullable(Type.String()),
    tags: Type.Array(Type.String()),
    metadata: nullable(Type.Object({}, { additionalProperties: true })),
    version: Type.Integer(),
    created_at: Time,
    updated_at: Time,
    uploaded_at: nullable(Time),
    deleted_at: nullable(Time),
  },
  { description: 'Asset' },
);

export type AssetView = Static<typeof AssetView>;

/** `publicBaseUrl` without a slash at its end. */
export function toAssetView(asset: ShownAsset, publicBaseUrl: string): AssetView {
  return {
    id: asset.id,
    owner_user_id: asset.owner_user_id,
    kind: asset.kind,
    filename: asset.filename,
    content_type: asset.content_type,
    mime_type: asset.mime_type,
    size_bytes: asset.size_bytes,
    checksum_sha256: asset.checksum_sha256,
    visibility: asset.visibility,
    stream_status: asset.stream_status,
    provider: asset.provider,
    provider_video_id: asset.provider_video_id,
    playback: toPlaybackUrls(asset.playback, toPlaybackBase(publicBaseUrl, asset.id)),
    playable_at: time(asset.playable_at),
    completed_at: time(asset.completed_at),
    progress: asset.progress,
    renditions: asset.renditions as AssetView['renditions'],
    width: asset.width,
    height: asset.height,
    duration_ms: asset.duration_ms,
    placeholder: asset.placeholder,
    poster_time_ms: asset.poster_time_ms,
    warnings: asset.warnings as AssetView['warnings'],
    failure: asset.failure,
    title: asset.title,
    tags: asset.tags,
    metadata: asset.metadata,
    version: asset.version,
    created_at: asset.created_at.toISOString(),
    updated_at: asset.updated_at.toISOString(),
    uploaded_at: time(asset.uploaded_at),
    deleted_at: time(asset.deleted_at),
  };
}

const time = (moment: Date | null) => moment?.toISOString() ?? null;

/** Where our own renditions of an asset are served. */
export const toPlaybackBase = (publicBaseUrl: string, assetId: string): string =>
  `${publicBaseUrl}/api/v1/playback/${assetId}`;

/** Ours as absolute paths below `base`, a stranger's byte for byte. */
export function toPlaybackUrls(manifest: Manifest | null, base: string): Static<typeof PlaybackView> | null {
  if (!manifest) return null;
  if (manifest.kind === 'image') return { hls: null, dash: null, thumbnail: `${base}/thumb.jpg` };
  if (manifest.kind === 'own')
    return { hls: `${base}/hls.m3u8`, dash: `${base}/dash.mpd`, thumbnail: `${base}/thumb.jpg` };
  return { hls: manifest.hls, dash: manifest.dash, thumbnail: manifest.thumbnail };
}
