// Names, types and caching of the files that playback serves (contract B5).
import type { PlaybackAsset } from '../assets/asset.ts';
import type { OwnManifest, PlayUrls } from '../assets/playback-manifest.ts';
import { playbackNotFound } from '../assets/playback-manifest.ts';
import { isEncrypted, isNeverEncrypted, type SegmentEncryption } from '../assets/segment-encryption.ts';
import { EXTRA_FILES } from '../assets/video-extras.ts';
import { captionVersion, findNamedCaption } from '../captions/manifest-captions.ts';
import {
  captionKey,
  isRenditionName,
  type ObjectKey,
  posterName,
  renditionKey,
  THUMBNAIL,
  variantKey,
} from '../storage/object-key.ts';

/** The fixed names below an asset's playback path. */
export const ENTRY_FILES = ['hls.m3u8', 'dash.mpd', 'thumb.jpg'] as const;
type EntryFile = (typeof ENTRY_FILES)[number];
export const isEntryFile = (name: string): name is EntryFile => ENTRY_FILES.some((file) => file === name);

const isExtraFile = (name: string): boolean => Object.values(EXTRA_FILES).includes(name);

const TYPES: ReadonlyMap<string, string> = new Map([
  ['m3u8', 'application/vnd.apple.mpegurl'],
  ['mpd', 'application/dash+xml'],
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

/**
 * Segments are immutable in browsers; shared caches revalidate them, because the asset may become private.
 * Entry files change with the next attempt.
 */
export function cacheControlFor({ visibility }: Pick<PlaybackAsset, 'visibility'>, isEntry: boolean): string {
  if (isEntry) return `${visibility}, max-age=10`;
  const shared = visibility === 'public' ? `, s-maxage=${SHARED_MAX_AGE_S}` : '';
  return `${visibility}, max-age=31536000${shared}, immutable`;
}

/** A file of our store, or a URL of others. */
type ResolvedFile =
  | {
      readonly key: ObjectKey;
      readonly isEntry: boolean;
      readonly growing?: GrowingFile;
      /** The `v` of a URL whose response never changes. */
      readonly version?: string;
    }
  | { readonly location: string };

/** A manifest that may not be in the store yet. */
export type GrowingFile = { readonly folder: string; readonly name: string };

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
    : isExtraFile(path)
      ? extraOf(asset, path)
      : childOf(asset, path);
  if (!file) throw playbackNotFound();
  return file;
}

/** All other files are media, or manifests of them. */
const isOfferedWithEncryption = ({ captions }: PlaybackAsset, path: string): boolean =>
  path === 'hls.m3u8' || isNeverEncrypted(path) || findNamedCaption(captions, path) !== undefined;

function entryOf(
  asset: PlaybackAsset,
  file: EntryFile,
  findHostedUrls: FileSources['findHostedUrls'],
): ResolvedFile | undefined {
  const { id, playback } = asset;
  if (playback?.kind === 'own')
    return playback.growing && file === THUMBNAIL
      ? undefined
      : {
          key: renditionKey(id, playback.folder, storedName(playback, file)),
          isEntry: true,
          ...growingFile(playback, file),
        };
  if (playback?.kind === 'image')
    return file === THUMBNAIL ? { key: variantKey(id, THUMBNAIL), isEntry: true } : undefined;
  const urls = playback?.kind === 'urls' ? playback : playback && findHostedUrls(asset);
  const location = urls && { 'hls.m3u8': urls.hls, 'dash.mpd': urls.dash, 'thumb.jpg': urls.thumbnail }[file];
  return location ? { location } : undefined;
}

/** The thumbnail is the frame that the caller chose, if any. */
const storedName = ({ posterTimeMs }: OwnManifest, file: EntryFile): string =>
  file === THUMBNAIL && posterTimeMs !== undefined ? posterName(posterTimeMs) : file;

/** Changes with the run, like the manifests. */
const extraOf = ({ id, playback }: PlaybackAsset, file: string): ResolvedFile | undefined =>
  playback?.kind === 'own' ? { key: renditionKey(id, playback.folder, file), isEntry: true } : undefined;

/** The DASH manifest for players that started before the run had ended. */
const EARLY_MANIFEST = /^early-(\d+-\d+)\.mpd$/;

/** `<folder>/<file>` of the published run, or a file of captions. */
function childOf({ id, playback, captions }: PlaybackAsset, path: string): ResolvedFile | undefined {
  const named = playback?.kind === 'own' ? findNamedCaption(captions, path) : undefined;
  if (named)
    return {
      key: captionKey(id, named.caption.fileId),
      isEntry: true,
      version: captionVersion(named.caption),
    };
  const early = EARLY_MANIFEST.exec(path)?.[1];
  const [folder = '', file = '', ...more] = early === undefined ? path.split('/') : [early, 'early.mpd'];
  if (more.length > 0 || !isRenditionName(folder, file)) return undefined;
  return playback?.kind === 'own' && playback.folder === folder
    ? { key: renditionKey(id, folder, file), isEntry: early !== undefined, ...growingFile(playback, file) }
    : undefined;
}

const MANIFEST = /\.(?:m3u8|mpd)$/;

export const growingFile = ({ growing, folder }: OwnManifest, name: string): { growing?: GrowingFile } =>
  growing && MANIFEST.test(name) ? { growing: { folder, name } } : {};
