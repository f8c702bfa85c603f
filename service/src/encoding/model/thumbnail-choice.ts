// Chooses the rendition and segment for a video's thumbnail or poster.
import { type CmafSegment, type CmafTrack, type VideoTrack, isVideo, segmentSeconds } from './cmaf-track.ts';

const WIDEST = 1280;
const EARLIEST_PART = 0.1;
const LATEST_PART = 0.5;

export type ThumbnailSource = { readonly track: VideoTrack; readonly segment: CmafSegment };

/** The segment at 10 % of the video, or the next larger one if it is so small that it is probably black. */
export function chooseThumbnailSource(tracks: readonly CmafTrack[]): ThumbnailSource {
  const track = findThumbnailRung(tracks.filter(isVideo), ({ size }) => size.width);
  const candidates = track.segments.slice(
    Math.floor(track.segments.length * EARLIEST_PART),
    Math.ceil(track.segments.length * LATEST_PART),
  );
  const typical = track.segments.reduce((total, { bytes }) => total + bytes, 0) / track.segments.length;
  const segment = candidates.find(({ bytes }) => bytes >= typical / 2) ?? candidates[0];
  if (!segment) throw new Error('no segments');
  return { track, segment };
}

/** The last segment that starts at or before the time. */
export function choosePosterSource(tracks: readonly CmafTrack[], timeMs: number): ThumbnailSource {
  const track = findThumbnailRung(tracks.filter(isVideo), ({ size }) => size.width);
  let start = 0;
  const begun = track.segments.filter((segment) => {
    const hasBegun = start < secondsBy(timeMs);
    start += segmentSeconds(track, segment);
    return hasBegun;
  });
  const segment = begun.at(-1);
  if (!segment) throw new Error('no segments');
  return { track, segment };
}

/** The widest that is not wider than a thumbnail, otherwise the narrowest. H.264 is listed before others. */
export function findThumbnailRung<T>(rungs: readonly T[], widthOf: (rung: T) => number): T {
  const falling = rungs.toSorted((a, b) => widthOf(b) - widthOf(a));
  const narrowest = Math.min(...rungs.map(widthOf));
  const rung =
    falling.find((each) => widthOf(each) <= WIDEST) ?? rungs.find((each) => widthOf(each) === narrowest);
  if (!rung) throw new Error('no video track');
  return rung;
}

/** Frames start between milliseconds, and players truncate times to milliseconds, so the rest is added. */
export const secondsBy = (timeMs: number): number => (timeMs + 0.999) / 1000;
