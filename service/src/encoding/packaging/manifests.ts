// Renders the HLS and DASH manifests of a run: with captions, for plain or encrypted segments, and up to its
// last segment while the run goes on.
import type { Caption } from '../../assets/asset.ts';
import type { CmafTrack } from '../model/cmaf-track.ts';
import { formatDashManifest } from './dash-manifest.ts';
import { formatMediaPlaylist, formatMultivariantPlaylist } from './hls-playlist.ts';
import { findIFrameTracks, formatIFramePlaylist, formatIFrameStreams } from './i-frame-playlist.ts';
import { earlyTracks, listedTracks, type RunIndex } from './run-index.ts';

/**
 * Players that started early read only this DASH manifest again: its representations never change, while
 * `dash.mpd` has all renditions in the end. They resolve names against its address, beside that of entries.
 */
export const EARLY_DASH_NAME = 'early.mpd';

export type ManifestRequest = {
  /** For example `hls.m3u8` or `r0.m3u8`. */
  readonly name: string;
  /** Folder of the segments, relative to the entry files. */
  readonly folder: string;
  /** The folder of encrypted segments within `folder`; undefined: players get plain ones. */
  readonly keyId?: string | undefined;
  readonly captions: readonly Caption[];
};

/** Undefined for a name that the run does not have. */
export function renderManifest(index: RunIndex, request: ManifestRequest): string | undefined {
  switch (request.name) {
    case 'hls.m3u8':
      return renderMultivariant(index, request);
    case 'dash.mpd':
      return renderDash(index, listedTracks(index), request);
    case EARLY_DASH_NAME:
      return renderDash(index, earlyTracks(index), request);
    default:
      return renderTrack(index, request);
  }
}

const renderDash = (
  { frameRate, growth }: RunIndex,
  tracks: readonly CmafTrack[],
  { folder, captions }: ManifestRequest,
): string =>
  formatDashManifest(
    { tracks, frameRate, childFolder: folder, captions },
    growth && { ...growth, location: earlyDashLocation(folder) },
  );

const earlyDashLocation = (folder: string): string => `early-${folder}.mpd`;

/** Ranges of plain segments are no ranges of encrypted ones, so that these have no I-frame playlists. */
function renderMultivariant(index: RunIndex, { folder, keyId, captions }: ManifestRequest): string {
  const tracks = listedTracks(index);
  const presentation = { tracks, frameRate: index.frameRate, captions };
  if (keyId !== undefined)
    return formatMultivariantPlaylist({
      ...presentation,
      childFolder: `${folder}/${keyId}`,
      isEncrypted: true,
    });
  return (
    formatMultivariantPlaylist({ ...presentation, childFolder: folder }) +
    (index.growth ? '' : formatIFrameStreams(findIFrameTracks(tracks), folder))
  );
}

const TRACK_PLAYLIST = /^r(\d{1,4})(-iframes)?\.m3u8$/;

function renderTrack({ tracks, growth }: RunIndex, { name, keyId }: ManifestRequest): string | undefined {
  const [, id, iFrames] = TRACK_PLAYLIST.exec(name) ?? [];
  const track = tracks.find((each) => `${each.id}` === id);
  if (!track) return undefined;
  if (iFrames === undefined)
    return formatMediaPlaylist(track, {
      isGrowing: growth !== undefined,
      ...(keyId !== undefined && { keyUri: `r${track.id}.key` }),
    });
  const [found] = growth ? [] : findIFrameTracks([track]);
  return found && formatIFramePlaylist(found);
}
