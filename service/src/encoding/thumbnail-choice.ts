// Where a film's thumbnail is taken from: its own finished renditions, early, and not from a black stretch.
import { type CmafSegment, type CmafTrack, type VideoTrack, isVideo } from './cmaf-track.ts';

const WIDEST = 1280;
const EARLIEST_PART = 0.1;
const LATEST_PART = 0.5;

export type ThumbnailSource = { readonly track: VideoTrack; readonly segment: CmafSegment };

/** The segment at a tenth of the film; if it is much smaller than most (black, a title card), the next that is not. */
export function chooseThumbnailSource(tracks: readonly CmafTrack[]): ThumbnailSource {
  const videos = tracks.filter(isVideo);
  const track = videos.find(({ size }) => size.width <= WIDEST) ?? videos.at(-1);
  if (!track) throw new Error('no picture track');
  const candidates = track.segments.slice(Math.floor(track.segments.length * EARLIEST_PART), Math.ceil(track.segments.length * LATEST_PART));
  const typical = track.segments.reduce((total, { bytes }) => total + bytes, 0) / track.segments.length;
  const segment = candidates.find(({ bytes }) => bytes >= typical / 2) ?? candidates[0];
  if (!segment) throw new Error('no segments');
  return { track, segment };
}
