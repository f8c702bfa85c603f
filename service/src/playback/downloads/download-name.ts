// The `download` parameter of MP4 and M4A files: the name under which browsers save them (contract B5).
import { EXTRA_FILES } from '../../assets/video-extras.ts';
import { badRequest } from '../../platform/http/errors.ts';

const DOWNLOADS: readonly string[] = [EXTRA_FILES.mp4, EXTRA_FILES.audio];
const MAX_LENGTH = 255;

/** The name to save a requested file under; undefined where the browser decides. */
export function findDownloadName(query: unknown, path: string): string | undefined {
  if (!DOWNLOADS.includes(path)) return undefined;
  const name = Object.entries(query ?? {}).find(([key]) => key === 'download')?.[1];
  if (name === undefined) return undefined;
  if (typeof name === 'string' && name.length > 0 && name.length <= MAX_LENGTH) return name;
  throw badRequest(`download must be a file name of 1 to ${MAX_LENGTH} characters`, { field: 'download' });
}

/** The parameter as the query of a redirect. */
export const toDownloadSearch = (name: string | undefined): string =>
  name === undefined ? '' : `?download=${encodeURIComponent(name.toWellFormed())}`;
