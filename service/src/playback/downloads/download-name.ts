// MP4 and M4A files: whether viewers may have them, and the name that browsers save them under (contract B5).
import { allowsDownloads } from '../../assets/access-rules.ts';
import type { PlaybackAsset } from '../../assets/asset.ts';
import { EXTRA_FILES } from '../../assets/video-extras.ts';
import { badRequest, forbidden } from '../../platform/http/errors.ts';

const DOWNLOADS: readonly string[] = [EXTRA_FILES.mp4, EXTRA_FILES.audio];
const MAX_LENGTH = 255;

/** Whether the file below the playback path is the whole video or sound. */
export const isDownload = (path: string): boolean => DOWNLOADS.includes(path);

/** Throws FORBIDDEN for a whole file where the access rules forbid downloads. */
export function assertDownloadable(asset: Pick<PlaybackAsset, 'access'>, path: string): void {
  if (!allowsDownloads(asset) && isDownload(path)) throw downloadsForbidden();
}

export const downloadsForbidden = () =>
  forbidden('The access rules of the asset forbid downloads.', { reason: 'downloads_not_allowed' });

/** The name to save a requested file under; undefined where the browser decides. */
export function findDownloadName(query: unknown, path: string): string | undefined {
  if (!isDownload(path)) return undefined;
  const name = Object.entries(query ?? {}).find(([key]) => key === 'download')?.[1];
  if (name === undefined) return undefined;
  if (typeof name === 'string' && name.length > 0 && name.length <= MAX_LENGTH) return name;
  throw badRequest(`download must be a file name of 1 to ${MAX_LENGTH} characters`, { field: 'download' });
}

/** The parameter as the query of a redirect. */
export const toDownloadSearch = (name: string | undefined): string =>
  name === undefined ? '' : `?download=${encodeURIComponent(name.toWellFormed())}`;
