// Renders the HLS and DASH manifests of a run: with captions, for plain or encrypted segments, and up to its
// last segment while the run goes on.
import type { Caption } from '../../assets/asset.ts';
import { type CmafTrack, isVideo, videosIn } from '../model/cmaf-track.ts';
import { MAIN_SET } from '../model/codecs.ts';
import { formatDashManifest } from './dash-manifest.ts';
import {
  formatMediaPlaylist,
  formatMultivariantPlaylist,
  type LaterVideos,
  toVariantVideo,
} from './hls-playlist.ts';
import { findIFrameTracks, formatIFramePlaylist, formatIFrameStreams } from './i-frame-playlist.ts';
import { earlyTracks, listedTracks, type RunIndex } from './run-index.ts';
import { formatSteering, STEERING_NAME, steeringUri } from './steering.ts';

/**
 * Players that started early read only this DASH manifest again. It keeps the renditions that they know, and
 * gains the others in H.264. They resolve names against its address, beside that of entries.
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
  /** The chapters as JSON, relative to the manifest; undefined: the video has none. */
  readonly chaptersUri?: string | undefined;
};

/** Undefined for a name that the run does not have. */
export function renderManifest(index: RunIndex, request: ManifestRequest): string | undefined {
  switch (request.name) {
    case 'hls.m3u8':
      return renderMultivariant(index, request);
    case STEERING_NAME:
      return formatSteering(index.growth !== undefined);
    case 'dash.mpd':
      return renderDash(index, index.growth ? index.tracks : listedTracks(index), request);
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
function renderMultivariant(index: RunIndex, request: ManifestRequest): string {
  const { folder, keyId, captions, chaptersUri } = request;
  const { growth, frameRate } = index;
  const tracks = growth ? index.tracks : listedTracks(index);
  const presentation = { tracks, frameRate, captions, chaptersUri, later: findLater(index, folder) };
  if (keyId !== undefined)
    return formatMultivariantPlaylist({
      ...presentation,
      childFolder: `${folder}/${keyId}`,
      isEncrypted: true,
    });
  return (
    formatMultivariantPlaylist({ ...presentation, childFolder: folder }) +
    (growth ? '' : formatIFrameStreams(findIFrameTracks(tracks), folder))
  );
}

function findLater(index: RunIndex, folder: string): LaterVideos | undefined {
  const awaited = index.growth?.awaited ?? [];
  if (awaited.length === 0) return undefined;
  const kept = videosIn(listedTracks(index), MAIN_SET).map(toVariantVideo);
  const videos = [...kept, ...awaited].sort((a, b) => b.size.height - a.size.height);
  return { steeringUri: steeringUri(folder), videos };
}

const TRACK_PLAYLIST = /^r(\d{1,4})(-iframes)?\.m3u8$/;

function renderTrack(index: RunIndex, { name, keyId }: ManifestRequest): string | undefined {
  const [, id, iFrames] = TRACK_PLAYLIST.exec(name) ?? [];
  const { growth } = index;
  const track = findTrack(index, id);
  if (iFrames !== undefined) {
    const [found] = track && !growth ? findIFrameTracks([track]) : [];
    return found && formatIFramePlaylist(found);
  }
  const played = track ?? findStandIn(index, id);
  return (
    played &&
    formatMediaPlaylist(played, {
      isGrowing: growth?.isComplete === false,
      ...(keyId !== undefined && { keyUri: `r${played.id}.key` }),
    })
  );
}

const findTrack = ({ tracks }: RunIndex, id: string | undefined): CmafTrack | undefined =>
  tracks.find((each) => `${each.id}` === id);

/** Players that ignore content steering ask for renditions before they exist: they get one that plays. */
const findStandIn = ({ tracks, growth }: RunIndex, id: string | undefined): CmafTrack | undefined =>
  growth?.awaited.some((each) => `${each.id}` === id) ? tracks.find(isVideo) : undefined;
