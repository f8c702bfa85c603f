// The asset as the API shows it (contract B1).
import type { Asset as AssetView, AssetPlayback } from '@mediary/contract/schemas/asset';
import type { ShownAsset } from './asset.ts';
import type { Manifest } from './playback-manifest.ts';

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
export function toPlaybackUrls(manifest: Manifest | null, base: string): AssetPlayback | null {
  if (!manifest) return null;
  if (manifest.kind === 'image') return { hls: null, dash: null, thumbnail: `${base}/thumb.jpg` };
  if (manifest.kind === 'own')
    return { hls: `${base}/hls.m3u8`, dash: `${base}/dash.mpd`, thumbnail: `${base}/thumb.jpg` };
  return { hls: manifest.hls, dash: manifest.dash, thumbnail: manifest.thumbnail };
}
