// Names, types and caching of the files that playback serves (contract B5).
import type { Asset } from '../assets/asset.ts';

/** The fixed names below an asset's playback path. */
export const ENTRY_FILES = ['hls.m3u8', 'dash.mpd', 'thumb.jpg'] as const;
export type EntryFile = (typeof ENTRY_FILES)[number];
export const isEntryFile = (name: string): name is EntryFile => ENTRY_FILES.some((file) => file === name);

const TYPES: Readonly<Record<string, string>> = {
  m3u8: 'application/vnd.apple.mpegurl', mpd: 'application/dash+xml', jpg: 'image/jpeg', mp4: 'video/mp4', m4s: 'video/iso.segment',
};

/** Our table decides, never the client; what is not in it is only bytes. */
export const typeOf = (file: string): string => TYPES[file.slice(file.lastIndexOf('.') + 1)] ?? 'application/octet-stream';

/** Children lie in a folder that is never written twice; entry files change with the next attempt. */
export function cachingOf({ visibility }: Pick<Asset, 'visibility'>, isEntry: boolean): string {
  return `${visibility}, ${isEntry ? 'max-age=10' : 'max-age=31536000, immutable'}`;
}
