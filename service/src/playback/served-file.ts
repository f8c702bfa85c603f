// Names, types and caching of the files that playback serves (contract B5).
import type { PlaybackAsset } from '../assets/asset.ts';
import { type OwnManifest, playbackNotFound, type PlayUrls } from '../assets/playback-manifest.ts';
import { roleOfRun } from '../assets/previous-version.ts';
import { isEncrypted, isNeverEncrypted, type SegmentEncryption } from '../assets/segment-encryption.ts';
import { EXTRA_FILES } from '../assets/video-extras.ts';
import { captionVersion, findNamedCaption } from '../captions/manifest-captions.ts';
import { EARLY_DASH_NAME, isEarlyPlaylist } from '../encoding/packaging/manifests.ts';
import { STEERING_NAME } from '../encoding/packaging/steering.ts';
import {
  captionKey,
  imageThumbnailKey,
  isRenditionName,
  type ObjectKey,
  posterName,
  renditionKey,
  THUMBNAIL,
  WAVEFORM,
} from '../storage/object-key.ts';

/** The fixed names below an asset's playback path. */
export const ENTRY_FILES = ['hls.m3u8', 'dash.mpd', 'thumb.jpg'] as const;
type EntryFile = (typeof ENTRY_FILES)[number];
export const isEntryFile = (name: string): name is EntryFile => ENTRY_FILES.some((file) => file === name);

const isExtraFile = (name: string): boolean => Object.values(EXTRA_FILES).includes(name);

const TYPES: ReadonlyMap<string, string> = new Map([
  ['m3u8', 'application/vnd.apple.mpegurl'],
  ['mpd', 'application/dash+xml'],
  ['json', 'application/json'],
  ['jpg', 'image/jpeg'],
  ['mp4', 'video/mp4'],
  ['m4s', 'video/iso.segment'],
  ['m4a', 'audio/mp4'],
  ['vtt', 'text/vtt; charset=utf-8'],
  ['webp', 'image/webp'],
]);

/** The service chooses the type, never the client. Other files are plain bytes. */
export const contentTypeOf = (file: string): string =>
  TYPES.get(file.slice(file.lastIndexOf('.') + 1)) ?? 'application/octet-stream';

/** How long a shared cache may serve segments of a video after it was made private. */
const SHARED_MAX_AGE_S = 3600;
/** How long an entry file may be used without a question, in seconds. */
export const ENTRY_MAX_AGE_S = 10;

/**
 * Segments are immutable in browsers; shared caches revalidate them, because the asset may become private.
 * Entry files change with the next attempt.
 */
export function cacheControlFor({ visibility }: Pick<PlaybackAsset, 'visibility'>, isEntry: boolean): string {
  if (isEntry) return `${visibility}, max-age=${ENTRY_MAX_AGE_S}`;
  const shared = visibility === 'public' ? `, s-maxage=${SHARED_MAX_AGE_S}` : '';
  return `${visibility}, max-age=31536000${shared}, immutable`;
}

/** A file of our store, a manifest of the published run, or a URL of others. */
type ResolvedFile =
  | {
      readonly kind: 'stored';
      readonly key: ObjectKey;
      readonly isEntry: boolean;
      /** The `v` of a URL whose response never changes. */
      readonly version?: string;
    }
  | { readonly kind: 'manifest'; readonly name: string; readonly isEntry: boolean }
  | { readonly kind: 'elsewhere'; readonly location: string };

/** The setting, and the URLs of hosted videos. */
type FileSources = {
  readonly segmentEncryption: SegmentEncryption;
  readonly findHostedUrls: (asset: PlaybackAsset) => PlayUrls | undefined;
};

export function resolveFile(
  asset: PlaybackAsset,
  path: string,
  { findHostedUrls, segmentEncryption }: FileSources,
): ResolvedFile {
  if (isEncrypted(segmentEncryption, asset) && !isOfferedWithEncryption(asset, path))
    throw playbackNotFound();
  const file = isEntryFile(path)
    ? entryOf(asset, path, findHostedUrls)
    : isExtraFile(path) || path === WAVEFORM
      ? extraOf(asset, path)
      : childOf(asset, path);
  if (!file) throw playbackNotFound();
  return file;
}

/** All other files are media, or manifests of them. */
const isOfferedWithEncryption = ({ captions }: PlaybackAsset, path: string): boolean =>
  path === 'hls.m3u8' ||
  path.startsWith('steering-') ||
  isNeverEncrypted(path) ||
  findNamedCaption(captions, path) !== undefined;

function entryOf(
  asset: PlaybackAsset,
  file: EntryFile,
  findHostedUrls: FileSources['findHostedUrls'],
): ResolvedFile | undefined {
  const { id, playback } = asset;
  if (playback?.kind === 'own') {
    if (file !== THUMBNAIL) return { kind: 'manifest', name: file, isEntry: true };
    return playback.growing ? undefined : entry(renditionKey(id, playback.folder, thumbnailName(playback)));
  }
  if (playback?.kind === 'image')
    return file === THUMBNAIL ? entry(imageThumbnailKey(id, playback.attempt)) : undefined;
  const urls = playback?.kind === 'urls' ? playback : playback && findHostedUrls(asset);
  const location = urls && { 'hls.m3u8': urls.hls, 'dash.mpd': urls.dash, 'thumb.jpg': urls.thumbnail }[file];
  return location ? { kind: 'elsewhere', location } : undefined;
}

const entry = (key: ObjectKey): ResolvedFile => ({ kind: 'stored', key, isEntry: true });

/** The frame that the caller chose, if any. */
const thumbnailName = ({ posterTimeMs }: OwnManifest): string =>
  posterTimeMs === undefined ? THUMBNAIL : posterName(posterTimeMs);

/** Changes with the run, like the manifests. */
const extraOf = ({ id, playback }: PlaybackAsset, file: string): ResolvedFile | undefined =>
  playback?.kind === 'own' ? entry(renditionKey(id, playback.folder, file)) : undefined;

/** What players that started before the end of the run read again. */
const EARLY_FILE = /^(?:early-(\d+-\d+)\.mpd|steering-(\d+-\d+)\.json)$/;

/** `<folder>/<file>` of the published run, or a file of captions. */
function childOf(asset: PlaybackAsset, path: string): ResolvedFile | undefined {
  const { id, playback, captions } = asset;
  const named = playback?.kind === 'own' ? findNamedCaption(captions, path) : undefined;
  if (named)
    return {
      kind: 'stored',
      key: captionKey(id, named.caption.fileId),
      isEntry: true,
      version: captionVersion(named.caption),
    };
  const [early, dash, steering] = EARLY_FILE.exec(path) ?? [];
  const [folder = '', file = '', ...more] = dash
    ? [dash, EARLY_DASH_NAME]
    : steering
      ? [steering, STEERING_NAME]
      : path.split('/');
  // Only their own URL serves extras: access rules may forbid them there.
  if (more.length > 0 || isExtraFile(file) || !isRenditionName(folder, file)) return undefined;
  // A viewer who started before the file was replaced plays the old one to its end.
  const role = roleOfRun(asset, folder);
  if (role === 'current' && (early !== undefined || TRACK_PLAYLIST.test(file)))
    return { kind: 'manifest', name: file, isEntry: early !== undefined || isEarlyPlaylist(file) };
  return role && SERVED.test(file)
    ? { kind: 'stored', key: renditionKey(id, folder, file), isEntry: false }
    : undefined;
}

const TRACK_PLAYLIST = /\.m3u8$/;
/** The index of a run is for the service alone. */
const SERVED = /\.(?:mp4|m4s|m4a|jpg|webp|vtt)$/;
