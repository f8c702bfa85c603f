// Manifests of the service for videos of made-up tracks, and an edit that breaks them.
import {
  type CmafTrack,
  initName,
  playlistName,
  segmentName,
} from '../../../service/src/encoding/model/cmaf-track.ts';
import { renderManifest } from '../../../service/src/encoding/packaging/manifests.ts';
import type { RunIndex } from '../../../service/src/encoding/packaging/run-index.ts';
import { soundTracks } from '../../../service/src/encoding/packaging/tracks.fixture.ts';
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
    keyFrame: { start: 76, length: 900 },
  })),
});
const colour = { primaries: 9, transfer: 16, matrix: 9, isFullRange: false };
const tracks = [
  track(0, 'avc1.64001f', 720),
  track(1, 'avc1.4d401e', 360),
  ...soundTracks(2, [{}]),
  track(100, 'av01.0.05M.08', 720),
  { ...track(300, 'av01.0.05M.10.0.111.09.16.09.0', 720), colour },
  { ...track(400, 'hvc1.2.4.L93.B0', 720), colour },
];
export const index: RunIndex = {
  tracks,
  frameRate: { numerator: 30, denominator: 1 },
  early: tracks.map(({ id }) => id),
};
const render = (name: string): string =>
  renderManifest(index, { name, folder: '1-1', captions: [], hasAudioVariant: true }) ?? '';
export const sizes = new Map(
  tracks.flatMap(({ id, segments }) => [
    [initName(id), 800] as const,
    ...segments.map(({ name, bytes }) => [name, bytes] as const),
  ]),
);
export const hls: HlsFiles = {
  multivariant: render('hls.m3u8'),
  playlists: new Map(tracks.map(({ id }) => [`1-1/${playlistName(id)}`, render(playlistName(id))])),
  sizes,
};
export const dash: DashFiles = { manifest: render('dash.mpd'), sizes };

/** Throws where the text has nothing to replace. */
export function edited(text: string, from: string | RegExp, to: string): string {
  const result = text.replace(from, to);
  if (result === text) throw new Error(`${from} does not occur`);
  return result;
}
