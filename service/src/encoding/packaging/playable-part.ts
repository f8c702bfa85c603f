// Formats the manifests of the renditions that can be played before the run has ended.
import { type CmafTrack, playlistName } from '../model/cmaf-track.ts';
import { formatDashManifest } from './dash-manifest.ts';
import {
  formatMediaPlaylist,
  formatMultivariantPlaylist,
  type PackagedTracks,
  type TrackState,
} from './hls-playlist.ts';

/** `text` replaces that of an earlier manifest with this name. */
export type NamedManifest = { readonly name: string; readonly text: string };

type PlayableTracks = PackagedTracks & {
  readonly state: TrackState;
  /** The same in all manifests of a run, so that players keep their clock. */
  readonly startedAt: Date;
  /** When this version is published. */
  readonly publishedAt: Date;
  /** The duration of the whole video. */
  readonly durationSeconds: number;
};

/**
 * Players that started early read only this DASH manifest again: its representations never change, while
 * `dash.mpd` has all renditions in the end. They resolve names against its address, beside that of entries.
 */
const EARLY_DASH_NAME = 'early.mpd';
const earlyDashLocation = (childFolder: string): string => `early-${childFolder}.mpd`;

export function formatPlayablePart({
  state,
  startedAt,
  publishedAt,
  durationSeconds,
  ...presentation
}: PlayableTracks): readonly NamedManifest[] {
  const location = earlyDashLocation(presentation.childFolder);
  const dash = formatDashManifest(
    presentation,
    state === 'growing' ? { startedAt, publishedAt, durationSeconds, location } : undefined,
  );
  return [
    { name: 'hls.m3u8', text: formatMultivariantPlaylist(presentation) },
    { name: 'dash.mpd', text: dash },
    { name: EARLY_DASH_NAME, text: dash },
    ...presentation.tracks.map((track) => ({
      name: playlistName(track.id),
      text: formatMediaPlaylist(track, state),
    })),
  ];
}

/** The manifests that players which started early read until the end; `tracks` are complete. */
export const formatEarlyManifests = (
  presentation: PackagedTracks,
  replaced: readonly CmafTrack[],
): readonly NamedManifest[] => [
  { name: EARLY_DASH_NAME, text: formatDashManifest(presentation) },
  ...replaced.map((track) => ({ name: playlistName(track.id), text: formatMediaPlaylist(track) })),
];
