// The representation of an asset in the API (contract B1).
import { createHash } from 'node:crypto';
import { WARNING_CODES } from '@mediary/contract/failures';
import type { Asset as AssetView, AssetPlayback } from '@mediary/contract/schemas/assets/asset';
import type { ExpectedTimes } from '@mediary/contract/schemas/assets/expected-times';
import type { Caller } from '../auth/caller.ts';
import { hasViewerRules } from './access-rules.ts';
import type { Asset, ShownAsset, Warning } from './asset.ts';
import type { Manifest, PlayUrls } from './playback-manifest.ts';
import type { Rendition } from './renditions.ts';
import { isEncrypted, type SegmentEncryption } from './segment-encryption.ts';

/** Playback of a hosted video with the current settings. */
export type HostedPlayback = { readonly urls: PlayUrls; readonly warning?: Warning };

/** What the representation depends on besides the row. */
export type AssetViewContext = {
  /** Without a slash at its end: the service, or the CDN in front of it. */
  readonly playbackBaseUrl: () => string;
  /** Undefined for assets that no hosted provider plays. */
  readonly findHostedPlayback: (asset: Pick<Asset, 'provider' | 'playback'>) => HostedPlayback | undefined;
  /** False when the provider's current settings do not allow a retry. */
  readonly canRetry: (asset: Pick<Asset, 'provider'>) => boolean;
  readonly segmentEncryption: SegmentEncryption;
  readonly expectedTimes: {
    /** Before assets are shown; without it, their times are those of a recent reading, or unknown. */
    readonly prepare: (assets: readonly ShownAsset[]) => Promise<void>;
    readonly find: (asset: ShownAsset) => ExpectedTimes;
  };
};

/** The members that depend on the settings of providers too, and so may change without the row. */
function toSettingsView(asset: ShownAsset, context: AssetViewContext) {
  const hosted = context.findHostedPlayback(asset);
  const playback = hosted
    ? toPlayback(hosted.urls)
    : toOfferedUrls(context, asset, toPlaybackBase(context.playbackBaseUrl(), asset.id));
  const { failure } = asset;
  const warnings = isUnenforced(asset) ? [...asset.warnings, ACCESS_NOT_ENFORCED] : asset.warnings;
  return {
    hasNoHostedUrl: hosted !== undefined && !playback,
    playback,
    warnings: (hosted?.warning ? [...warnings, hosted.warning] : warnings) as AssetView['warnings'],
    failure: failure && { ...failure, retryable: failure.retryable && context.canRetry(asset) },
  };
}

/** An encoder may report its URLs after the rules were set. */
const isUnenforced = ({ access, playback }: ShownAsset): boolean =>
  hasViewerRules(access) && playback?.kind === 'urls';

const ACCESS_NOT_ENFORCED: Warning = {
  code: 'access_not_enforced',
  message: WARNING_CODES.access_not_enforced,
};

const toRenditionView = (rendition: Rendition): AssetView['renditions'][number] => ({
  height: rendition.height,
  codec: rendition.codec ?? null,
  dynamic_range: rendition.dynamic_range ?? null,
  width: rendition.width ?? null,
  state: rendition.state,
  bitrate: rendition.bitrate ?? null,
});

export function toAssetView(asset: ShownAsset, context: AssetViewContext): AssetView {
  const { hasNoHostedUrl, playback, warnings, failure } = toSettingsView(asset, context);
  return {
    id: asset.id,
    owner_user_id: asset.owner_user_id,
    external_id: asset.external_id,
    kind: asset.kind,
    filename: asset.filename,
    content_type: asset.content_type,
    mime_type: asset.mime_type,
    size_bytes: asset.size_bytes,
    checksum_sha256: asset.checksum_sha256,
    duplicate_of: asset.duplicate_of,
    clip_of: asset.clip_of,
    version_of: asset.version_of,
    visibility: asset.visibility,
    stream_status: asset.stream_status,
    provider: asset.provider,
    provider_video_id: asset.provider_video_id,
    playback,
    playable_at: hasNoHostedUrl ? null : toIso(asset.playable_at),
    ready_at: toIso(asset.ready_at),
    progress: asset.progress,
    ...context.expectedTimes.find(asset),
    renditions: asset.renditions.map(toRenditionView),
    width: asset.width,
    height: asset.height,
    duration_ms: asset.duration_ms,
    placeholder: asset.placeholder,
    media: asset.media,
    poster_time_ms: asset.poster_time_ms,
    focal_point: asset.focal_point,
    access: asset.access,
    chapters: asset.chapters ?? [],
    warnings,
    failure,
    title: asset.title,
    tags: asset.tags,
    metadata: asset.metadata,
    expires_at: toIso(asset.expires_at),
    version: asset.version,
    created_at: asset.created_at.toISOString(),
    updated_at: asset.updated_at.toISOString(),
    uploaded_at: toIso(asset.uploaded_at),
    deleted_at: toIso(asset.deleted_at),
  };
}

/** For service callers and operators. */
export const toServiceView = (asset: ShownAsset, context: AssetViewContext): AssetView => ({
  ...toAssetView(asset, context),
  legal_hold: asset.legal_hold,
});

export const toCallerView = (asset: ShownAsset, context: AssetViewContext, caller: Caller): AssetView =>
  caller.kind === 'service' ? toServiceView(asset, context) : toAssetView(asset, context);

const toIso = (time: Date | null) => time?.toISOString() ?? null;

/** Changes with every change of the representation, also by settings. It is never the version in quotes. */
export function toEtag(asset: Asset, context: AssetViewContext): string {
  const dependsOnSettings =
    asset.playback?.kind === 'hosted' || asset.failure || isEncrypted(context.segmentEncryption, asset);
  if (dependsOnSettings) {
    const { playback, warnings, failure } = toSettingsView(asset, context);
    return `"r${asset.revision}-${shortHash(JSON.stringify({ playback, warnings, failure }))}"`;
  }
  const isServed = asset.playback?.kind === 'own' || asset.playback?.kind === 'image';
  return isServed ? `"r${asset.revision}-${hashBase(context.playbackBaseUrl())}"` : `"r${asset.revision}"`;
}

const shortHash = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 16);

/** Most requests need it, and the base URL of a process does not change. */
let hashedBase = { base: '', hash: shortHash('') };
function hashBase(base: string): string {
  if (hashedBase.base !== base) hashedBase = { base, hash: shortHash(base) };
  return hashedBase.hash;
}

const toPlayback = (urls: PlayUrls): AssetPlayback | null =>
  urls.hls || urls.dash || urls.thumbnail ? urls : null;

/** Base URL of an asset's files that we serve. */
export const toPlaybackBase = (playbackBaseUrl: string, assetId: string): string =>
  `${playbackBaseUrl}/api/v1/playback/${assetId}`;

/** Our own files as URLs below `base`, reported URLs byte for byte; null for hosted videos. */
export function toPlaybackUrls(manifest: Manifest | null, base: string): AssetPlayback | null {
  if (!manifest || manifest.kind === 'hosted') return null;
  if (manifest.kind === 'image') return { hls: null, dash: null, thumbnail: `${base}/thumb.jpg` };
  if (manifest.kind === 'own')
    return {
      hls: `${base}/hls.m3u8`,
      dash: `${base}/dash.mpd`,
      thumbnail: manifest.growing ? null : `${base}/thumb.jpg`,
    };
  return { hls: manifest.hls, dash: manifest.dash, thumbnail: manifest.thumbnail };
}

/** Without DASH where segments are encrypted: it has no AES-128 of whole segments. */
export function toOfferedUrls(
  { segmentEncryption }: Pick<AssetViewContext, 'segmentEncryption'>,
  asset: Pick<Asset, 'visibility' | 'playback'>,
  base: string,
): AssetPlayback | null {
  const urls = toPlaybackUrls(asset.playback, base);
  return urls && isEncrypted(segmentEncryption, asset) ? { ...urls, dash: null } : urls;
}
