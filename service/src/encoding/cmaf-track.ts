// One finished rendition or sound track as both manifests describe it: its header, its segments, its bit rates.
import type { SegmentTimes, TrackHeader } from './mp4-boxes.ts';

export type CmafSegment = SegmentTimes & { readonly name: string; readonly bytes: number };

export type CmafTrack = TrackHeader & {
  /** Its number in all file names: `r<id>-init.mp4`, `r<id>-00001.m4s` …, `r<id>.m3u8`. */
  readonly id: number;
  readonly segments: readonly CmafSegment[];
};

export type VideoTrack = CmafTrack & { readonly size: NonNullable<CmafTrack['size']> };

export const initName = (id: number): string => `r${id}-init.mp4`;
export const segmentName = (id: number, number: number): string =>
  `r${id}-${String(number).padStart(5, '0')}.m4s`;
export const playlistName = (id: number): string => `r${id}.m3u8`;

export const isVideo = (track: CmafTrack): track is VideoTrack => track.size !== null;

export const secondsOfSegment = ({ timescale }: CmafTrack, { duration }: SegmentTimes): number =>
  duration / timescale;

export const secondsOfTrack = (track: CmafTrack): number =>
  sum(track.segments.map(({ duration }) => duration)) / track.timescale;

/** Bits per second over the whole track. */
export const averageBitrate = (track: CmafTrack): number =>
  Math.ceil((sum(track.segments.map(({ bytes }) => bytes)) * 8) / secondsOfTrack(track));

/** Bits per second of the most demanding segment; a short rest at the end says nothing (RFC 8216, 4.3.4.2). */
export function peakBitrate(track: CmafTrack): number {
  const half = Math.max(...track.segments.map(({ duration }) => duration)) / 2;
  const typical = track.segments.filter(({ duration }) => duration >= half);
  return Math.ceil(
    Math.max(...typical.map((segment) => (segment.bytes * 8) / secondsOfSegment(track, segment))),
  );
}

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
