// Formats HLS playlists (RFC 8216, version 7): EVENT while they grow, then VOD; child URLs are relative.
import {
  type CmafTrack,
  type VideoTrack,
  averageBitrate,
  initName,
  peakBitrate,
  playlistName,
  rangeOf,
  segmentSeconds,
  targetDuration,
  videosIn,
} from '../model/cmaf-track.ts';
import { type AudioGroup, audioGroups, audioMediaLines } from './hls-audio.ts';
import { SWITCHING_SETS } from '../model/codecs.ts';
import { shortSide } from '../plan/ladder/ladder.ts';
import type { Rational } from '../model/source.ts';

export type PackagedTracks = {
  readonly tracks: readonly CmafTrack[];
  readonly frameRate: Rational;
  readonly childFolder: string;
};

const HEAD = ['#EXTM3U', '#EXT-X-VERSION:7', '#EXT-X-INDEPENDENT-SEGMENTS'] as const;
/** Players start with the first listed variant, before they know their bandwidth. */
const START_SIDE = 720;
const SURROUND_SIDE = 720;

export function formatMultivariantPlaylist({ tracks, frameRate, childFolder }: PackagedTracks): string {
  const [stereo, surround] = audioGroups(tracks);
  const variants = SWITCHING_SETS.flatMap((set) => {
    const videos = startFirst(videosIn(tracks, set));
    return [
      ...videos.map((video) => [video, stereo] as const),
      ...(surround ? upperRungs(videos).map((video) => [video, surround] as const) : []),
    ];
  }).flatMap(([video, group]) => [
    `#EXT-X-STREAM-INF:${variantAttributes(video, group, frameRate)}`,
    `${childFolder}/${playlistName(video.id)}`,
  ]);
  const media = [stereo, surround].flatMap((group) => (group ? audioMediaLines(group, childFolder) : []));
  return lines([...HEAD, ...media, ...variants]);
}

/** `growing`: further segments follow. */
export type TrackState = 'growing' | 'complete';

export function formatMediaPlaylist(track: CmafTrack, state: TrackState = 'complete'): string {
  const durations = track.segments.map((segment) => segmentSeconds(track, segment));
  const segments = track.segments.flatMap(({ name }, index) => [
    `#EXTINF:${durations[index]?.toFixed(6)},`,
    name,
  ]);
  return lines([
    ...HEAD,
    ...(state === 'growing' ? GROWING : ['#EXT-X-PLAYLIST-TYPE:VOD']),
    `#EXT-X-TARGETDURATION:${targetDuration(track)}`,
    `#EXT-X-MAP:URI="${initName(track.id)}"`,
    ...segments,
    ...(state === 'growing' ? [] : ['#EXT-X-ENDLIST']),
  ]);
}

/** Players would otherwise start near the end, as in a live stream. Shaka Player takes 0 for no offset. */
const GROWING = ['#EXT-X-PLAYLIST-TYPE:EVENT', '#EXT-X-START:TIME-OFFSET=0.001,PRECISE=YES'] as const;

function variantAttributes(
  video: VideoTrack,
  audio: AudioGroup | undefined,
  { numerator, denominator }: Rational,
): string {
  const members = audio?.members ?? [];
  // Players choose one member, so the variant needs the bandwidth of the largest.
  const total = (rate: (track: CmafTrack) => number) => rate(video) + Math.max(0, ...members.map(rate));
  const codecs = new Set([video, ...members].map(({ codec }) => codec));
  return [
    `BANDWIDTH=${total(peakBitrate)}`,
    `AVERAGE-BANDWIDTH=${total(averageBitrate)}`,
    `CODECS="${[...codecs].join(',')}"`,
    `RESOLUTION=${video.size.width}x${video.size.height}`,
    `FRAME-RATE=${(numerator / denominator).toFixed(3)}`,
    videoRange(video),
    ...(audio ? [`AUDIO="${audio.id}"`] : []),
    'CLOSED-CAPTIONS=NONE',
  ].join(',');
}

/** All variants state it, because players compare them by it (RFC 8216bis, 4.4.6.2). */
export const videoRange = (video: VideoTrack): string => `VIDEO-RANGE=${rangeOf(video).toUpperCase()}`;

const startFirst = (videos: readonly VideoTrack[]): readonly VideoTrack[] => {
  const start = videos.find(({ size }) => shortSide(size) <= START_SIDE);
  return start ? [start, ...videos.filter((video) => video !== start)] : videos;
};

/** Surround doubles the list of variants only where its bit rate is small beside that of the picture. */
function upperRungs(videos: readonly VideoTrack[]): readonly VideoTrack[] {
  const upper = videos.filter(({ size }) => shortSide(size) >= SURROUND_SIDE);
  return upper.length > 0 ? upper : videos.slice(0, 1);
}

const lines = (all: readonly string[]): string => `${all.join('\n')}\n`;
