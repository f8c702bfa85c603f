// Renders the HLS and DASH manifests of a run: with captions, for plain or encrypted segments, and up to its
// last segment while the run goes on.
import type { Caption } from '../../assets/asset.ts';
import { type CmafTrack, isVideo, targetDuration, videosIn } from '../model/cmaf-track.ts';
import { MAIN_SET } from '../model/codecs.ts';
import { formatDashManifest } from './dash-manifest.ts';
import {
  formatMediaPlaylist,
  formatMultivariantPlaylist,
  type LaterVideos,
  toVariantVideo,
} from './hls-playlist.ts';
import { formatImagePlaylist, formatImageStream, IMAGE_PLAYLIST_NAME } from './image-tracks.ts';
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
  /** Sprites of the storyboard are stored in the folder. */
  readonly hasStoryboard?: boolean;
  /** HLS lists the sound of a video as a variant of its own. */
  readonly hasAudioVariant?: boolean;
  /** Playlists of early players do not say yet that they have all segments. */
  readonly hidesEnd?: boolean;
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
    case IMAGE_PLAYLIST_NAME:
      return request.hasStoryboard ? formatImagePlaylist(listedTracks(index)) : undefined;
    case EARLY_DASH_NAME:
      return renderDash(index, earlyTracks(index), request);
    default:
      return renderTrack(index, request);
  }
}

const renderDash = (
  { frameRate, growth }: RunIndex,
  tracks: readonly CmafTrack[],
  { folder, captions, hasStoryboard = false }: ManifestRequest,
): string =>
  formatDashManifest(
    { tracks, frameRate, childFolder: folder, captions, hasStoryboard },
    growth && { ...growth, location: earlyDashLocation(folder) },
  );

const earlyDashLocation = (folder: string): string => `early-${folder}.mpd`;

/** Ranges of plain segments are no ranges of encrypted ones, so that these have no I-frame playlists. */
function renderMultivariant(index: RunIndex, request: ManifestRequest): string {
  const { folder, keyId, captions, chaptersUri, hasAudioVariant = false } = request;
  const { growth, frameRate } = index;
  const tracks = growth ? index.tracks : listedTracks(index);
  const later = findLater(index, folder);
  const isEarly = growth !== undefined;
  const presentation = { tracks, frameRate, captions, chaptersUri, later, hasAudioVariant, isEarly };
  if (keyId !== undefined)
    return formatMultivariantPlaylist({
      ...presentation,
      childFolder: `${folder}/${keyId}`,
      isEncrypted: true,
    });
  return (
    formatMultivariantPlaylist({ ...presentation, childFolder: folder }) +
    (growth ? '' : formatIFrameStreams(findIFrameTracks(tracks), folder)) +
    (request.hasStoryboard ? formatImageStream(tracks, folder) : '')
  );
}

function findLater(index: RunIndex, folder: string): LaterVideos | undefined {
  const awaited = index.growth?.awaited ?? [];
  if (awaited.length === 0) return undefined;
  const kept = videosIn(listedTracks(index), MAIN_SET).map(toVariantVideo);
  const videos = [...kept, ...awaited].sort((a, b) => b.size.height - a.size.height);
  return { steeringUri: steeringUri(folder), videos };
}

/** Beside the target duration: what a player takes to read its playlists again. */
const END_MARGIN_SECONDS = 2;

/**
 * Whether the playlists of early players have all segments and must not say so yet. Shaka Player reads no
 * playlist again once one that it opens has ended, so each has to be read with all segments before.
 */
export function isEnding({ tracks, completedAt }: RunIndex, now: Date): boolean {
  if (completedAt === undefined) return false;
  const seconds = Math.max(0, ...tracks.map(targetDuration)) + END_MARGIN_SECONDS;
  // The clock of the worker may be ahead: that must not delay the end for long.
  return Math.abs(now.getTime() - Date.parse(completedAt)) < seconds * 1000;
}

const TRACK_PLAYLIST = /^r(\d{1,4})(-early|-iframes)?\.m3u8$/;

/** Its content changes, unlike that of the playlist of the run. */
export const isEarlyPlaylist = (name: string): boolean => TRACK_PLAYLIST.exec(name)?.[2] === '-early';

function renderTrack(
  index: RunIndex,
  { name, keyId, hidesEnd = false }: ManifestRequest,
): string | undefined {
  const [, id, kind] = TRACK_PLAYLIST.exec(name) ?? [];
  const { growth } = index;
  const track = findTrack(index, id);
  if (kind === '-iframes') {
    const [found] = track && !growth ? findIFrameTracks([track]) : [];
    return found && formatIFramePlaylist(found);
  }
  const played = track ?? findStandIn(index, id);
  return (
    played &&
    formatMediaPlaylist(played, {
      isGrowing: growth?.isComplete === false || (kind === '-early' && hidesEnd),
      ...(keyId !== undefined && { keyUri: `r${played.id}.key` }),
    })
  );
}

const findTrack = ({ tracks }: RunIndex, id: string | undefined): CmafTrack | undefined =>
  tracks.find((each) => `${each.id}` === id);

/** Players that ignore content steering ask for renditions before they exist: they get one that plays. */
const findStandIn = ({ tracks, growth }: RunIndex, id: string | undefined): CmafTrack | undefined =>
  growth?.awaited.some((each) => `${each.id}` === id) ? tracks.find(isVideo) : undefined;
