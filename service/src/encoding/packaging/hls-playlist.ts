// Formats HLS playlists (RFC 8216, version 7): EVENT while they grow, then VOD; child URLs are relative.
import {
  type CmafTrack,
  type VideoTrack,
  averageBitrate,
  earlyPlaylistName,
  initName,
  isVideo,
  peakBitrate,
  playlistName,
  rangeOf,
  segmentSeconds,
  targetDuration,
  videosIn,
} from '../model/cmaf-track.ts';
import { type AudioGroup, audioGroups, audioMediaLines } from './hls-audio.ts';
import type { Caption } from '../../assets/asset.ts';
import { formatSubtitleMedia, SUBTITLE_GROUP } from '../../captions/manifest-captions.ts';
import { SWITCHING_SETS } from '../model/codecs.ts';
import { shortSide } from '../plan/ladder/ladder.ts';
import { perSecondOf } from '../plan/source/frame-rate.ts';
import type { Rational } from '../model/source.ts';
import { EARLY_PATHWAY, FULL_PATHWAY, pathwayAttribute, steeringLine } from './steering.ts';

export type PackagedTracks = {
  readonly tracks: readonly CmafTrack[];
  readonly frameRate: Rational;
  /** Of the media playlists and segments, relative to the manifest. */
  readonly childFolder: string;
  readonly captions: readonly Caption[];
  /** Sprites of all tiles are stored beside the segments. */
  readonly hasStoryboard?: boolean;
};

const HEAD = ['#EXTM3U', '#EXT-X-VERSION:7', '#EXT-X-INDEPENDENT-SEGMENTS'] as const;
/** Players start with the first listed variant, before they know their bandwidth. */
const START_SIDE = 720;
const SURROUND_SIDE = 720;

/** The padding of a segment of picture and one of sound, also of very short ones. */
const PADDING_BITS_PER_SECOND = 4000;

/** Bit rates in bits per second; the average of what is not encoded yet is unknown. */
type VariantVideo = Pick<VideoTrack, 'id' | 'codec' | 'size' | 'colour'> & {
  readonly peakBitrate: number;
  readonly averageBitrate?: number;
};

/** What players get when the run ends: they stay with the tracks until the steering manifest moves them. */
export type LaterVideos = { readonly steeringUri: string; readonly videos: readonly VariantVideo[] };

type Presentation = PackagedTracks & {
  readonly isEncrypted?: boolean;
  readonly later?: LaterVideos | undefined;
  /** JSON, relative to the manifest. */
  readonly chaptersUri?: string | undefined;
  /** The run has not ended: players read the playlists again. */
  readonly isEarly?: boolean;
  /** Lists the sound without pictures as the last variant. */
  readonly hasAudioVariant?: boolean;
};

export const toVariantVideo = (track: VideoTrack): VariantVideo => ({
  ...track,
  peakBitrate: peakBitrate(track),
  averageBitrate: averageBitrate(track),
});

export function formatMultivariantPlaylist({ childFolder, ...presentation }: Presentation): string {
  const { tracks, captions, chaptersUri, later, hasAudioVariant } = presentation;
  const groups = audioGroups(tracks);
  const sets = SWITCHING_SETS.map((set) => videosIn(tracks, set).map(toVariantVideo));
  const pathways = later
    ? [
        { id: EARLY_PATHWAY, sets },
        { id: FULL_PATHWAY, sets: [later.videos] },
      ]
    : [{ id: undefined, sets }];
  const [sound] = groups[0]?.members ?? [];
  if (sound && !tracks.some(isVideo)) return formatSoundPlaylist(sound, { childFolder, ...presentation });
  const variants = pathways.flatMap(({ id, sets: listed }) => [
    ...listed
      .flatMap((videos) => variantsOf(videos, groups))
      .map(([video, group]) => ({
        of: video,
        attributes: variantAttributes(video, group, presentation),
        id,
      })),
    ...(sound && hasAudioVariant
      ? [{ of: sound, attributes: soundAttributes(groups[0], presentation), id }]
      : []),
  ]);
  const uriOf = (id: number): string =>
    `${childFolder}/${presentation.isEarly ? earlyPlaylistName(id) : playlistName(id)}`;
  const media = groups.flatMap((group) => audioMediaLines(group, uriOf));
  return lines([
    ...HEAD,
    ...(later ? [steeringLine(later.steeringUri)] : []),
    ...chapterLines(chaptersUri),
    ...media,
    ...formatSubtitleMedia(captions),
    ...variants.flatMap(({ of, attributes, id }) => [
      `#EXT-X-STREAM-INF:${attributes}${pathwayAttribute(id)}`,
      uriOf(of.id),
    ]),
  ]);
}

const chapterLines = (uri: string | undefined): readonly string[] =>
  uri ? [`#EXT-X-SESSION-DATA:DATA-ID="com.apple.hls.chapters",URI="${uri}"`] : [];

/** An audio asset is one variant without a picture. */
function formatSoundPlaylist(
  sound: CmafTrack,
  { childFolder, chaptersUri, isEncrypted }: Presentation,
): string {
  const padding = isEncrypted ? PADDING_BITS_PER_SECOND : 0;
  const bandwidths = `BANDWIDTH=${peakBitrate(sound) + padding},AVERAGE-BANDWIDTH=${averageBitrate(sound)}`;
  return lines([
    ...HEAD,
    ...chapterLines(chaptersUri),
    `#EXT-X-STREAM-INF:${bandwidths},CODECS="${sound.codec}"`,
    `${childFolder}/${playlistName(sound.id)}`,
  ]);
}

/**
 * The stereo without pictures, as in RFC 8216, 8.6: for connections that are too slow for pictures, and for
 * apps in the background. Players that switch between pictures ignore it.
 */
function soundAttributes(
  group: AudioGroup | undefined,
  { captions, isEncrypted }: Omit<Presentation, 'childFolder'>,
): string {
  const members = group?.members ?? [];
  const most = (rate: (track: CmafTrack) => number) => Math.max(0, ...members.map(rate));
  return [
    `BANDWIDTH=${most(peakBitrate) + (isEncrypted ? PADDING_BITS_PER_SECOND : 0)}`,
    `AVERAGE-BANDWIDTH=${most(averageBitrate)}`,
    `CODECS="${[...new Set(members.map(({ codec }) => codec))].join(',')}"`,
    ...groupAttributes(group, captions),
  ].join(',');
}

const groupAttributes = (audio: AudioGroup | undefined, captions: readonly Caption[]): readonly string[] => [
  ...(audio ? [`AUDIO="${audio.id}"`] : []),
  'CLOSED-CAPTIONS=NONE',
  ...(captions.length > 0 ? [`SUBTITLES="${SUBTITLE_GROUP}"`] : []),
];

/** Each video with stereo; the upper ones with surround too. */
function variantsOf(
  videos: readonly VariantVideo[],
  [stereo, ...surround]: readonly AudioGroup[],
): readonly (readonly [VariantVideo, AudioGroup | undefined])[] {
  const ordered = startFirst(videos);
  return [
    ...ordered.map((video) => [video, stereo] as const),
    ...surround.flatMap((group) => upperRungs(ordered).map((video) => [video, group] as const)),
  ];
}

type PlaylistOptions = {
  /** Further segments follow. */
  readonly isGrowing?: boolean;
  /** The key of AES-128, relative to the playlist; absent: the segments are plain. */
  readonly keyUri?: string;
};

/**
 * The init segment precedes the key, so it is plain: it has no samples, and not every player decrypts it.
 * The media sequence number is that in the name, so the IV of a segment follows from its name (RFC 8216,
 * 4.3.2.4).
 */
export function formatMediaPlaylist(
  track: CmafTrack,
  { isGrowing = false, keyUri }: PlaylistOptions = {},
): string {
  const durations = track.segments.map((segment) => segmentSeconds(track, segment));
  const segments = track.segments.flatMap(({ name }, index) => [
    `#EXTINF:${durations[index]?.toFixed(6)},`,
    name,
  ]);
  return lines([
    ...HEAD,
    ...(isGrowing ? GROWING : ['#EXT-X-PLAYLIST-TYPE:VOD']),
    `#EXT-X-TARGETDURATION:${targetDuration(track)}`,
    ...(keyUri === undefined ? [] : ['#EXT-X-MEDIA-SEQUENCE:1']),
    `#EXT-X-MAP:URI="${initName(track.id)}"`,
    ...(keyUri === undefined ? [] : [`#EXT-X-KEY:METHOD=AES-128,URI="${keyUri}"`]),
    ...segments,
    ...(isGrowing ? [] : ['#EXT-X-ENDLIST']),
  ]);
}

/** Players would otherwise start near the end, as in a live stream. Shaka Player takes 0 for no offset. */
const GROWING = ['#EXT-X-PLAYLIST-TYPE:EVENT', '#EXT-X-START:TIME-OFFSET=0.001,PRECISE=YES'] as const;

function variantAttributes(
  video: VariantVideo,
  audio: AudioGroup | undefined,
  { frameRate, captions, isEncrypted }: Omit<Presentation, 'childFolder'>,
): string {
  const members = audio?.members ?? [];
  const padding = isEncrypted ? PADDING_BITS_PER_SECOND : 0;
  // Players choose one member, so the variant needs the bandwidth of the largest.
  const most = (rate: (track: CmafTrack) => number) => Math.max(0, ...members.map(rate));
  const codecs = new Set([video, ...members].map(({ codec }) => codec));
  return [
    `BANDWIDTH=${video.peakBitrate + most(peakBitrate) + padding}`,
    ...(video.averageBitrate === undefined
      ? []
      : [`AVERAGE-BANDWIDTH=${video.averageBitrate + most(averageBitrate)}`]),
    `CODECS="${[...codecs].join(',')}"`,
    `RESOLUTION=${video.size.width}x${video.size.height}`,
    `FRAME-RATE=${perSecondOf(frameRate).toFixed(3)}`,
    videoRange(video),
    ...groupAttributes(audio, captions),
  ].join(',');
}

/** All variants with pictures state it, because players compare them by it (RFC 8216bis, 4.4.6.2). */
export const videoRange = (video: Pick<VideoTrack, 'colour'>): string =>
  `VIDEO-RANGE=${rangeOf(video).toUpperCase()}`;

const startFirst = (videos: readonly VariantVideo[]): readonly VariantVideo[] => {
  const start = videos.find(({ size }) => shortSide(size) <= START_SIDE);
  return start ? [start, ...videos.filter((video) => video !== start)] : videos;
};

/** Surround doubles the list of variants only where its bit rate is small beside that of the picture. */
function upperRungs(videos: readonly VariantVideo[]): readonly VariantVideo[] {
  const upper = videos.filter(({ size }) => shortSide(size) >= SURROUND_SIDE);
  return upper.length > 0 ? upper : videos.slice(0, 1);
}

const lines = (all: readonly string[]): string => `${all.join('\n')}\n`;
