// Formats HLS playlists (RFC 8216, version 7): EVENT while they grow, then VOD; child URLs are relative.
import {
  type CmafTrack,
  type VideoTrack,
  averageBitrate,
  initName,
  isVideo,
  peakBitrate,
  playlistName,
  segmentSeconds,
  targetDuration,
} from './cmaf-track.ts';
import { shortSide } from '../plan/ladder.ts';
import type { Rational } from '../plan/source-facts.ts';
import { findThumbnailRung, segmentAt } from './thumbnail-choice.ts';

export type PackagedTracks = {
  readonly tracks: readonly CmafTrack[];
  readonly frameRate: Rational;
  readonly childFolder: string;
};

const HEAD = ['#EXTM3U', '#EXT-X-VERSION:7', '#EXT-X-INDEPENDENT-SEGMENTS'] as const;
/** Players start with the first listed variant, before they know their bandwidth. */
const START_SIDE = 720;

export function formatMultivariantPlaylist({ tracks, frameRate, childFolder }: PackagedTracks): string {
  const audio = tracks.find((track) => !isVideo(track));
  const media =
    audio &&
    '#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="audio",NAME="Audio",DEFAULT=YES,AUTOSELECT=YES,CHANNELS="2",' +
      `URI="${childFolder}/${playlistName(audio.id)}"`;
  const variants = startFirst(tracks.filter(isVideo)).flatMap((video) => [
    `#EXT-X-STREAM-INF:${variantAttributes(video, audio, frameRate)}`,
    `${childFolder}/${playlistName(video.id)}`,
  ]);
  return lines([...HEAD, ...(media ? [media] : []), ...variants]);
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

/** Players would otherwise start near the end, as in a live stream. */
const GROWING = ['#EXT-X-PLAYLIST-TYPE:EVENT', '#EXT-X-START:TIME-OFFSET=0,PRECISE=YES'] as const;

function variantAttributes(
  video: VideoTrack,
  audio: CmafTrack | undefined,
  { numerator, denominator }: Rational,
): string {
  const tracks = audio ? [video, audio] : [video];
  const total = (rate: (track: CmafTrack) => number) => tracks.reduce((bits, track) => bits + rate(track), 0);
  return [
    `BANDWIDTH=${total(peakBitrate)}`,
    `AVERAGE-BANDWIDTH=${total(averageBitrate)}`,
    `CODECS="${tracks.map(({ codec }) => codec).join(',')}"`,
    `RESOLUTION=${video.size.width}x${video.size.height}`,
    `FRAME-RATE=${(numerator / denominator).toFixed(3)}`,
    ...(audio ? ['AUDIO="audio"'] : []),
    'CLOSED-CAPTIONS=NONE',
  ].join(',');
}

const startFirst = (videos: readonly VideoTrack[]): readonly VideoTrack[] => {
  const start = videos.find(({ size }) => shortSide(size) <= START_SIDE);
  return start ? [start, ...videos.filter((video) => video !== start)] : videos;
};

const lines = (all: readonly string[]): string => `${all.join('\n')}\n`;

/** File name of the media playlist that thumbnails are taken from. */
export function findThumbnailPlaylist(multivariant: string): string {
  const rungs = [...multivariant.matchAll(/^#EXT-X-STREAM-INF:.*RESOLUTION=(\d+)x\d+.*\n(.+)$/gm)].map(
    ([, width, path = '']) => ({ width: Number(width), path }),
  );
  const { path } = findThumbnailRung(rungs, ({ width }) => width);
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
