// Parses the playlists of our own encoder, to find the segment of a video that contains a time.
import { fittingRung, segmentAt } from './thumbnail-choice.ts';

/** File name of the media playlist that thumbnails are taken from. */
export function findThumbnailPlaylist(multivariant: string): string {
  const rungs = [...multivariant.matchAll(/^#EXT-X-STREAM-INF:.*RESOLUTION=(\d+)x\d+.*\n(.+)$/gm)].map(
    ([, width, path = '']) => ({ width: Number(width), path }),
  );
  const { path } = fittingRung(rungs, ({ width }) => width);
  return path.slice(path.lastIndexOf('/') + 1);
}

/** File names of the init segment and the media segment at the time; together they form a playable file. */
export function findExcerptFiles(playlist: string, timeMs: number): readonly [init: string, segment: string] {
  const init = /^#EXT-X-MAP:URI="(.+)"$/m.exec(playlist)?.[1];
  if (init === undefined) throw new Error('the playlist names no init');
  const segments = [...playlist.matchAll(/^#EXTINF:([\d.]+),\n(.+)$/gm)].map(([, seconds, name = '']) => ({
    seconds: Number(seconds),
    name,
  }));
  return [init, segmentAt(segments, { timeMs, secondsOf: ({ seconds }) => seconds }).name];
}
