// Formats I-frame playlists (RFC 8216, 4.3.3.6), from which players show pictures while a viewer seeks.
import {
  type CmafTrack,
  initName,
  isVideo,
  type VideoTrack,
  segmentSeconds,
  targetDuration,
} from '../model/cmaf-track.ts';
import { videoRange } from './hls-playlist.ts';
import type { KeyFrameRange } from '../model/key-frame-range.ts';

/** `keyFrames`: the first frame of each segment. */
type IFrameTrack = { readonly track: VideoTrack; readonly keyFrames: readonly KeyFrameRange[] };

/** Omits tracks with a segment that does not start with a key frame. */
export const findIFrameTracks = (tracks: readonly CmafTrack[]): readonly IFrameTrack[] =>
  tracks.filter(isVideo).flatMap((track) => {
    const keyFrames = track.segments.flatMap(({ keyFrame }) => keyFrame ?? []);
    return keyFrames.length === track.segments.length ? [{ track, keyFrames }] : [];
  });

export const iFramePlaylistName = (id: number): string => `r${id}-iframes.m3u8`;

/** Lines of the multivariant playlist. */
export const formatIFrameStreams = (all: readonly IFrameTrack[], childFolder: string): string =>
  all
    .map(({ track, keyFrames }) => {
      const { codec, size, id } = track;
      const attributes = [
        `BANDWIDTH=${peakBitrate({ track, keyFrames })}`,
        `CODECS="${codec}"`,
        `RESOLUTION=${size.width}x${size.height}`,
        videoRange(track),
        `URI="${childFolder}/${iFramePlaylistName(id)}"`,
      ];
      return `#EXT-X-I-FRAME-STREAM-INF:${attributes.join(',')}\n`;
    })
    .join('');

export function formatIFramePlaylist({ track, keyFrames }: IFrameTrack): string {
  const frames = track.segments.flatMap((segment, index) => {
    const { start, length } = keyFrames[index] as KeyFrameRange;
    return [
      `#EXTINF:${segmentSeconds(track, segment).toFixed(6)},`,
      `#EXT-X-BYTERANGE:${length}@${start}`,
      segment.name,
    ];
  });
  return [
    '#EXTM3U',
    '#EXT-X-VERSION:7',
    '#EXT-X-PLAYLIST-TYPE:VOD',
    '#EXT-X-I-FRAMES-ONLY',
    `#EXT-X-TARGETDURATION:${targetDuration(track)}`,
    `#EXT-X-MAP:URI="${initName(track.id)}"`,
    ...frames,
    '#EXT-X-ENDLIST',
    '',
  ].join('\n');
}

const peakBitrate = ({ track, keyFrames }: IFrameTrack): number =>
  track.segments.reduce((peak, segment, index) => {
    const { length } = keyFrames[index] as KeyFrameRange;
    return Math.max(peak, Math.ceil((length * 8) / segmentSeconds(track, segment)));
  }, 0);
