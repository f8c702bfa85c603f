// Inserts a signature into the path of playback URLs, where relative URLs in manifests keep it.
import type { PlayUrls } from '../assets/playback-manifest.ts';

/** Replaces the part once in every URL that contains it. */
export const replacedIn = ({ hls, dash, thumbnail }: PlayUrls, part: string, put: string): PlayUrls => {
  const replaced = (url: string | null) => url?.replace(part, () => put) ?? null;
  return { hls: replaced(hls), dash: replaced(dash), thumbnail: replaced(thumbnail) };
};
