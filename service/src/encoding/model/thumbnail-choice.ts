// Chooses the rendition and segment for a video's thumbnail or poster.
import { type CmafSegment, type CmafTrack, type VideoTrack, isVideo, segmentSeconds } from './cmaf-track.ts';

const WIDEST = 1280;
const EARLIEST_PART = 0.1;
const LATEST_PART = 0.5;

export type ThumbnailSource = { readonly track: VideoTrack; readonly segment: CmafSegment };

/** The segment at 10 % of the video, or the next larger one if it is so small that it is probably black. */
export function chooseThumbnailSource(tracks: readonly CmafTrack[]): ThumbnailSource {
  const track = findThumbnailRung(tracks.filter(isVideo));
  const candidates = track.segments.slice(
    Math.floor(track.segments.length * EARLIEST_PART),
    Math.ceil(track.segments.length * LATEST_PART),
  );
  const typical = track.segments.reduce((total, { bytes }) => total + bytes, 0) / track.segments.length;
  const segment = candidates.find(({ bytes }) => bytes >= typical / 2) ?? candidates[0];
  if (!segment) throw new Error('no segments');
  return { track, segment };
}

/** `startSeconds`: when the segment starts. */
type PosterSource = ThumbnailSource & { readonly startSeconds: number };

/** The last segment that starts at or before the time. */
export function choosePosterSource(tracks: readonly CmafTrack[], timeMs: number): PosterSource {
  const track = findThumbnailRung(tracks.filter(isVideo));
  let start = 0;
  const begun = track.segments.filter((segment) => {
    const hasBegun = start < secondsBy(timeMs);
    start += segmentSeconds(track, segment);
    return hasBegun;
  });
  const segment = begun.at(-1);
  if (!segment) throw new Error('no segments');
  return { track, segment, startSeconds: segment.start / track.timescale };
}

/** The widest that is not wider than a thumbnail, otherwise the narrowest. H.264 is listed before others. */
function findThumbnailRung(tracks: readonly VideoTrack[]): VideoTrack {
  const falling = tracks.toSorted((a, b) => b.size.width - a.size.width);
  const narrowest = falling.at(-1)?.size.width;
  const track =
    falling.find(({ size }) => size.width <= WIDEST) ?? tracks.find(({ size }) => size.width === narrowest);
  if (!track) throw new Error('no video track');
  return track;
}

/** Frames start between milliseconds, and players truncate times to milliseconds, so the rest is added. */
export const secondsBy = (timeMs: number): number => (timeMs + 0.999) / 1000;
