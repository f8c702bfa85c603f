// Chooses the track and the segments of a video that another file is made of.
import { type CmafSegment, type CmafTrack, isH264, isVideo, type VideoTrack } from './cmaf-track.ts';

/** Smallest first, by the number of pixels. */
export const bySize = (videos: readonly VideoTrack[]): readonly VideoTrack[] =>
  videos.toSorted((a, b) => a.size.width * a.size.height - b.size.width * b.size.height);

/** The smallest rendition that is wide enough, otherwise the largest; H.264, which every ffmpeg decodes. */
export function getVideoForWidth(tracks: readonly CmafTrack[], width: number): VideoTrack {
  const videos = tracks.filter(isVideo);
  const decodable = videos.filter(isH264);
  const rising = bySize(decodable.length > 0 ? decodable : videos);
  const video = rising.find(({ size }) => size.width >= width) ?? rising.at(-1);
  if (!video) throw new Error('the run has no video track');
  return video;
}

/** A segment with its time since the start of the video. */
type TimedSegment = { readonly name: string; readonly startSeconds: number; readonly endSeconds: number };

export const timedSegments = (track: CmafTrack): readonly TimedSegment[] =>
  track.segments.map((segment) => toTimed(track, segment));

const toTimed = ({ timescale }: CmafTrack, { name, start, duration }: CmafSegment): TimedSegment => ({
  name,
  startSeconds: start / timescale,
  endSeconds: (start + duration) / timescale,
});

/** The last segment that starts at or before the time. */
export function segmentAtTime(track: CmafTrack, seconds: number): TimedSegment {
  const { segments, timescale } = track;
  const segment = segments.findLast(({ start }) => start / timescale <= seconds) ?? segments[0];
  if (!segment) throw new Error('the track has no segments');
  return toTimed(track, segment);
}
