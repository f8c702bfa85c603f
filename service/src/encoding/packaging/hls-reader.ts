// Parses the HLS playlists that this service wrote, to find the segments for posters, frames and other files.
import { findThumbnailRung, secondsBy } from '../model/thumbnail-choice.ts';

export type ListedVariant = {
  /** File name of the media playlist. */
  readonly playlist: string;
  readonly width: number;
  readonly height: number;
  readonly codecs: readonly string[];
  /** Average bits per second, with the audio. */
  readonly bitrate: number;
  readonly frameRate: number;
  /** Undefined without audio. */
  readonly audioGroup: string | undefined;
};

export type ListedAudio = { readonly playlist: string; readonly group: string; readonly isDefault: boolean };

export type Presentation = {
  /** Folder of the media playlists and segments. */
  readonly folder: string;
  readonly videos: readonly ListedVariant[];
  readonly audios: readonly ListedAudio[];
};

/** Seconds since the start of the video. */
type ListedSegment = { readonly name: string; readonly start: number; readonly end: number };

export type SegmentList = { readonly init: string; readonly segments: readonly ListedSegment[] };

export function parseMultivariantPlaylist(text: string): Presentation {
  const lines = text.split('\n');
  const videos = lines.flatMap((line, index) =>
    line.startsWith('#EXT-X-STREAM-INF:') ? [toVideo(parseAttributes(line), lines[index + 1] ?? '')] : [],
  );
  const audios = lines
    .filter((line) => line.startsWith('#EXT-X-MEDIA:'))
    .map(parseAttributes)
    .filter((media) => media.get('TYPE') === 'AUDIO')
    .map(toAudio);
  const [first] = lines.filter((line) => line !== '' && !line.startsWith('#'));
  if (first === undefined) throw new Error('the playlist has no variant, so no video track');
  return { folder: first.slice(0, first.lastIndexOf('/')), videos, audios };
}

type Attributes = ReadonlyMap<string, string>;

const parseAttributes = (line: string): Attributes =>
  new Map(
    [...line.matchAll(/([A-Z0-9-]+)=(?:"([^"]*)"|([^",]*))/g)].map(
      ([, name = '', quoted, plain = '']) => [name, quoted ?? plain] as const,
    ),
  );

function toVideo(attributes: Attributes, path: string): ListedVariant {
  const [width = 0, height = 0] = (attributes.get('RESOLUTION') ?? '').split('x').map(Number);
  return {
    playlist: basename(path),
    width,
    height,
    codecs: (attributes.get('CODECS') ?? '').split(','),
    bitrate: Number(attributes.get('AVERAGE-BANDWIDTH') ?? attributes.get('BANDWIDTH')),
    frameRate: Number(attributes.get('FRAME-RATE')),
    audioGroup: attributes.get('AUDIO'),
  };
}

const toAudio = (attributes: Attributes): ListedAudio => ({
  playlist: basename(attributes.get('URI') ?? ''),
  group: attributes.get('GROUP-ID') ?? '',
  isDefault: attributes.get('DEFAULT') === 'YES',
});

const basename = (path: string): string => path.slice(path.lastIndexOf('/') + 1);

export function parseMediaPlaylist(text: string): SegmentList {
  const init = /^#EXT-X-MAP:URI="(.+?)"/m.exec(text)?.[1];
  if (init === undefined) throw new Error('the playlist names no init segment');
  let end = 0;
  const segments = [...text.matchAll(/^#EXTINF:([\d.]+),.*\n(?:#.*\n)*(.+)$/gm)].map(
    ([, seconds, name = '']) => {
      const start = end;
      end += Number(seconds);
      return { name, start, end };
    },
  );
  if (segments.length === 0) throw new Error('the playlist has no segments');
  return { init, segments };
}

/** The last segment that starts at or before the time. */
export const segmentAtTime = ({ segments }: SegmentList, seconds: number): ListedSegment =>
  segments.findLast(({ start }) => start <= seconds) ?? (segments[0] as ListedSegment);

/** Smallest first, by the number of pixels. */
export const bySize = (videos: readonly ListedVariant[]): readonly ListedVariant[] =>
  videos.toSorted((a, b) => a.width * a.height - b.width * b.height);

export const isH264 = ({ codecs }: ListedVariant): boolean =>
  codecs.some((codec) => codec.startsWith('avc1.'));

/** The smallest rendition that is wide enough, otherwise the largest; H.264, which every ffmpeg decodes. */
export function getVideoForWidth({ videos }: Presentation, width: number): ListedVariant {
  const decodable = videos.filter(isH264);
  const rising = bySize(decodable.length > 0 ? decodable : videos);
  const video = rising.find((each) => each.width >= width) ?? rising.at(-1);
  if (!video) throw new Error('the playlist has no video');
  return video;
}

/** File name of the media playlist that thumbnails are taken from. */
export const getThumbnailPlaylist = (multivariant: string): string =>
  findThumbnailRung(parseMultivariantPlaylist(multivariant).videos, ({ width }) => width).playlist;

/** Names of two files that together form a playable one. */
type Excerpt = {
  readonly init: string;
  readonly segment: string;
  /** When the segment starts. */
  readonly startSeconds: number;
};

/** The init segment and the media segment at the time. */
export function getExcerpt(playlist: string, timeMs: number): Excerpt {
  const list = parseMediaPlaylist(playlist);
  const { name, start } = segmentAtTime(list, secondsBy(timeMs));
  return { init: list.init, segment: name, startSeconds: start };
}
