// Puts a signature into the path of a hosted video's addresses: there it covers what manifests name, by relative paths, too.
import type { PlayUrls } from '../assets/playback-manifest.ts';

/** In every address that has such a part, once. */
export const replacedIn = ({ hls, dash, thumbnail }: PlayUrls, part: string, put: string): PlayUrls => {
  const replaced = (url: string | null) => url?.replace(part, () => put) ?? null;
  return { hls: replaced(hls), dash: replaced(dash), thumbnail: replaced(thumbnail) };
};
