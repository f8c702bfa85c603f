// Manifests of the service for videos of made-up tracks, and an edit that breaks them.
import {
  type CmafTrack,
  initName,
  isVideo,
  playlistName,
  segmentName,
} from '../../../service/src/encoding/model/cmaf-track.ts';
import { formatDashManifest } from '../../../service/src/encoding/packaging/dash-manifest.ts';
import {
  formatMediaPlaylist,
  formatMultivariantPlaylist,
} from '../../../service/src/encoding/packaging/hls-playlist.ts';
import { formatIFrameStreams } from '../../../service/src/encoding/packaging/i-frame-playlist.ts';
import { soundTracks } from '../../../service/src/encoding/packaging/sound-tracks.fixture.ts';
import type { DashFiles } from './check-dash.ts';
import type { HlsFiles } from './check-hls.ts';

const track = (id: number, codec: string, height: number): CmafTrack => ({
  id,
  codec,
  timescale: 1000,
  size: { width: height * 2, height },
  segments: [4000, 4000, 2000].map((duration, index) => ({
    name: segmentName(id, index + 1),
    start: index * 4000,
    duration,
    bytes: 1000 * (height + 10) + 5000 * index,
  })),
});
const colour = { primaries: 9, transfer: 16, matrix: 9, isFullRange: false };
export const tracks = [
  track(0, 'avc1.64001f', 720),
  track(1, 'avc1.4d401e', 360),
  ...soundTracks(2, [{}]),
  track(100, 'av01.0.05M.08', 720),
  { ...track(300, 'av01.0.05M.10.0.111.09.16.09.0', 720), colour },
  { ...track(400, 'hvc1.2.4.L93.B0', 720), colour },
];
export const presentation = { tracks, frameRate: { numerator: 30, denominator: 1 }, childFolder: '1-1' };
export const sizes = new Map(
  tracks.flatMap(({ id, segments }) => [
    [initName(id), 800] as const,
    ...segments.map(({ name, bytes }) => [name, bytes] as const),
  ]),
);
const iFrames = tracks
  .filter(isVideo)
  .map((each) => ({ track: each, keyFrames: each.segments.map(() => ({ start: 76, length: 900 })) }));
export const hls: HlsFiles = {
  multivariant: formatMultivariantPlaylist(presentation) + formatIFrameStreams(iFrames, '1-1'),
  playlists: new Map(tracks.map((each) => [`1-1/${playlistName(each.id)}`, formatMediaPlaylist(each)])),
  sizes,
};
export const dash: DashFiles = { manifest: formatDashManifest(presentation), sizes };

/** Throws where the text has nothing to replace. */
export function edited(text: string, from: string | RegExp, to: string): string {
  const result = text.replace(from, to);
  if (result === text) throw new Error(`${from} does not occur`);
  return result;
}
