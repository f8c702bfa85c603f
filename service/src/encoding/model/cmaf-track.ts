// A video or audio track as described by both manifests: header, segments and bit rates.
import type { AudioRendition } from './audio-track.ts';
import { CODECS, type Codec, type DynamicRange, type SwitchingSet } from './codecs.ts';
import { type KeyFrameRange, readKeyFrameRange } from './key-frame-range.ts';
import { readSegmentTimes, type SegmentTimes, type TrackHeader } from './mp4-boxes.ts';

export type CmafSegment = SegmentTimes & {
  readonly name: string;
  readonly bytes: number;
  /** Set for a video segment that starts with a key frame. */
  readonly keyFrame?: KeyFrameRange;
};

export type CmafTrack = TrackHeader & {
  /** The number in file names: `r<id>-init.mp4`, `r<id>-00001.m4s` …, `r<id>.m3u8`. */
  readonly id: number;
  readonly segments: readonly CmafSegment[];
  /** Set for an audio track. */
  readonly audio?: AudioRendition;
  /** The longest segment in whole seconds, of a track that was published before its end was known. */
  readonly targetSeconds?: number;
};

/** What the first bytes of a segment tell; they must reach into the `trun` box. */
export function readSegmentHead(
  head: Uint8Array,
  { isOfVideo }: { readonly isOfVideo: boolean },
): Omit<CmafSegment, 'name' | 'bytes'> {
  const keyFrame = isOfVideo ? readKeyFrameRange(head) : undefined;
  return { ...readSegmentTimes(head), ...(keyFrame && { keyFrame }) };
}

export type VideoTrack = CmafTrack & { readonly size: NonNullable<CmafTrack['size']> };
export type SoundTrack = CmafTrack & { readonly audio: AudioRendition };

export const initName = (id: number): string => `r${id}-init.mp4`;
export const segmentName = (id: number, number: number): string =>
  `r${id}-${String(number).padStart(5, '0')}.m4s`;
export const playlistName = (id: number): string => `r${id}.m3u8`;
/** The playlist of players that started before the run has ended. */
export const earlyPlaylistName = (id: number): string => `r${id}-early.m3u8`;

export const isVideo = (track: CmafTrack): track is VideoTrack => track.size !== null;
export const isSound = (track: CmafTrack): track is SoundTrack => track.audio !== undefined;

/** Audio tracks have consecutive ids, in the order of the renditions. */
export const describeAudio = (
  tracks: readonly CmafTrack[],
  { firstId, renditions }: { readonly firstId: number; readonly renditions: readonly AudioRendition[] },
): readonly CmafTrack[] =>
  tracks.map((track) => {
    const audio = isVideo(track) ? undefined : renditions[track.id - firstId];
    return audio ? { ...track, audio } : track;
  });

const CODEC_STRINGS: Readonly<Record<Codec, RegExp>> = { h264: /^avc1\./, av1: /^av01\./, hevc: /^hvc1\./ };

function codecOf({ codec }: VideoTrack): Codec {
  const found = CODECS.find((each) => CODEC_STRINGS[each].test(codec));
  if (!found) throw new Error(`unexpected codec ${codec}`);
  return found;
}

/** Every device decodes it, and every ffmpeg. */
export const isH264 = (track: VideoTrack): boolean => codecOf(track) === 'h264';

/** Code points of transfer characteristics (CICP) that are HDR. */
const HDR_TRANSFERS: ReadonlyMap<number, DynamicRange> = new Map([
  [16, 'pq'],
  [18, 'hlg'],
]);

export const rangeOf = ({ colour }: Pick<VideoTrack, 'colour'>): DynamicRange =>
  HDR_TRANSFERS.get(colour?.transfer ?? 0) ?? 'sdr';

export const videosIn = (
  tracks: readonly CmafTrack[],
  { codec, range }: SwitchingSet,
): readonly VideoTrack[] =>
  tracks.filter(isVideo).filter((track) => codecOf(track) === codec && rangeOf(track) === range);

export const segmentSeconds = ({ timescale }: CmafTrack, { duration }: SegmentTimes): number =>
  duration / timescale;

export const trackSeconds = (track: CmafTrack): number =>
  sum(track.segments.map(({ duration }) => duration)) / track.timescale;

/** Average bits per second of the whole track. */
export const averageBitrate = (track: CmafTrack): number =>
  Math.ceil((sum(track.segments.map(({ bytes }) => bytes)) * 8) / trackSeconds(track));

/** Duration of the longest segment in whole seconds (EXT-X-TARGETDURATION), which must never change. */
export const targetDuration = (track: CmafTrack): number =>
  track.targetSeconds ?? Math.max(1, Math.round(longestSegment(track)));

const longestSegment = (track: CmafTrack): number =>
  track.segments.reduce((longest, segment) => Math.max(longest, segmentSeconds(track, segment)), 0);

/** Peak bit rate by RFC 8216, 4.3.4.2, over runs of 0.5 to 1.5 target durations; at least the average. */
export function peakBitrate(track: CmafTrack): number {
  const target = targetDuration(track);
  return track.segments.reduce(
    (peak, _, first) => Math.max(peak, Math.ceil(fastestRun(track, first, target))),
    averageBitrate(track),
  );
}

/** The highest bit rate of all runs of valid length that start at this segment; 0 without one. */
function fastestRun(track: CmafTrack, first: number, target: number): number {
  let [seconds, bytes, fastest] = [0, 0, 0];
  for (let at = first; at < track.segments.length; at += 1) {
    const segment = track.segments[at] as CmafSegment;
    seconds += segmentSeconds(track, segment);
    bytes += segment.bytes;
    if (seconds > target * 1.5) break;
    if (seconds >= target * 0.5) fastest = Math.max(fastest, (bytes * 8) / seconds);
  }
  return fastest;
}

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
