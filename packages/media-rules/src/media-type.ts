// The media types that may be uploaded (contract B1).
import type { AudioContainer, VideoContainer } from './video-facts.ts';

/** File formats that are detected. `isobmff` covers MP4 and QuickTime, accepted under either type. */
export type Signature =
  | 'jpeg'
  | 'png'
  | 'webp'
  | 'avif'
  | 'heif'
  | 'gif'
  | 'isobmff'
  | 'webm'
  | 'matroska'
  | 'mpegts'
  | 'avi'
  | 'mpegps'
  | 'flv'
  | 'asf'
  | 'ogg'
  | 'mxf'
  | 'mp3'
  | 'aac'
  | 'wav'
  | 'flac';

type MediaTypeBase = {
  readonly mime: string;
  readonly extension: string;
  /** Accepted file formats. */
  readonly signatures: readonly Signature[];
};

type ImageType = MediaTypeBase & { readonly kind: 'image' };
type VideoType = MediaTypeBase & { readonly kind: 'video'; readonly container: VideoContainer };
type AudioType = MediaTypeBase & { readonly kind: 'audio'; readonly container: AudioContainer };
/** A file with a clock. */
export type TimedType = VideoType | AudioType;
export type MediaType = ImageType | TimedType;

/**
 * The types that are allowed by default. Must not contain SVG or HTML: a browser would run their scripts in
 * the origin of the service.
 */
export const MEDIA_TYPES: readonly MediaType[] = [
  { mime: 'image/jpeg', kind: 'image', extension: 'jpg', signatures: ['jpeg'] },
  { mime: 'image/png', kind: 'image', extension: 'png', signatures: ['png'] },
  { mime: 'image/webp', kind: 'image', extension: 'webp', signatures: ['webp'] },
  { mime: 'image/avif', kind: 'image', extension: 'avif', signatures: ['avif'] },
  { mime: 'image/gif', kind: 'image', extension: 'gif', signatures: ['gif'] },
  { mime: 'image/heic', kind: 'image', extension: 'heic', signatures: ['heif'] },
  { mime: 'image/heif', kind: 'image', extension: 'heif', signatures: ['heif'] },
  { mime: 'video/mp4', kind: 'video', container: 'mov', extension: 'mp4', signatures: ['isobmff'] },
  { mime: 'video/quicktime', kind: 'video', container: 'mov', extension: 'mov', signatures: ['isobmff'] },
  { mime: 'video/webm', kind: 'video', container: 'matroska', extension: 'webm', signatures: ['webm'] },
  {
    mime: 'video/x-matroska',
    kind: 'video',
    container: 'matroska',
    extension: 'mkv',
    signatures: ['matroska', 'webm'],
  },
  {
    mime: 'video/matroska',
    kind: 'video',
    container: 'matroska',
    extension: 'mkv',
    signatures: ['matroska', 'webm'],
  },
  { mime: 'video/mp2t', kind: 'video', container: 'mpegts', extension: 'ts', signatures: ['mpegts'] },
  { mime: 'video/3gpp', kind: 'video', container: 'mov', extension: '3gp', signatures: ['isobmff'] },
  { mime: 'video/3gpp2', kind: 'video', container: 'mov', extension: '3g2', signatures: ['isobmff'] },
  { mime: 'audio/mpeg', kind: 'audio', container: 'mp3', extension: 'mp3', signatures: ['mp3'] },
  { mime: 'audio/mp4', kind: 'audio', container: 'mov', extension: 'm4a', signatures: ['isobmff'] },
  { mime: 'audio/aac', kind: 'audio', container: 'aac', extension: 'aac', signatures: ['aac'] },
  { mime: 'audio/wav', kind: 'audio', container: 'wav', extension: 'wav', signatures: ['wav'] },
  { mime: 'audio/flac', kind: 'audio', container: 'flac', extension: 'flac', signatures: ['flac'] },
  { mime: 'audio/ogg', kind: 'audio', container: 'ogg', extension: 'ogg', signatures: ['ogg'] },
  { mime: 'audio/webm', kind: 'audio', container: 'matroska', extension: 'weba', signatures: ['webm'] },
];

/** Older formats, which only ffmpeg reads: allowed where the operator names them. */
export const ADDED_MEDIA_TYPES: readonly MediaType[] = [
  { mime: 'video/x-msvideo', kind: 'video', container: 'avi', extension: 'avi', signatures: ['avi'] },
  { mime: 'video/mpeg', kind: 'video', container: 'mpeg', extension: 'mpg', signatures: ['mpegps'] },
  { mime: 'video/x-flv', kind: 'video', container: 'flv', extension: 'flv', signatures: ['flv'] },
  { mime: 'video/x-ms-wmv', kind: 'video', container: 'asf', extension: 'wmv', signatures: ['asf'] },
  { mime: 'video/x-ms-asf', kind: 'video', container: 'asf', extension: 'asf', signatures: ['asf'] },
  { mime: 'video/ogg', kind: 'video', container: 'ogg', extension: 'ogv', signatures: ['ogg'] },
  { mime: 'application/mxf', kind: 'video', container: 'mxf', extension: 'mxf', signatures: ['mxf'] },
];

export const ALL_MEDIA_TYPES: readonly MediaType[] = [...MEDIA_TYPES, ...ADDED_MEDIA_TYPES];

/** Names that browsers and phones send for a type of the tables. */
const ALIASES: ReadonlyMap<string, string> = new Map([
  ['image/jpg', 'image/jpeg'],
  ['video/x-m4v', 'video/mp4'],
  ['video/avi', 'video/x-msvideo'],
  ['video/msvideo', 'video/x-msvideo'],
  ['video/vnd.avi', 'video/x-msvideo'],
  ['audio/mp3', 'audio/mpeg'],
  ['audio/x-mp3', 'audio/mpeg'],
  ['audio/x-m4a', 'audio/mp4'],
  ['audio/m4a', 'audio/mp4'],
  ['audio/aacp', 'audio/aac'],
  ['audio/x-aac', 'audio/aac'],
  ['audio/x-wav', 'audio/wav'],
  ['audio/wave', 'audio/wav'],
  ['audio/vnd.wave', 'audio/wav'],
  ['audio/x-flac', 'audio/flac'],
  ['audio/opus', 'audio/ogg'],
]);

const MIME = /^[\t ]*([\w!#$&^.+-]+\/[\w!#$&^.+-]+)[\t ]*(?:;[\t\x20-\x7e]*)?$/;
const CONTENT_KIND = /^\s*(image|video|audio)\s*(?:\/|$)/i;

/** `type/subtype` in lower case without parameters; undefined when invalid. */
export function parseMimeEssence(mime: string): string | undefined {
  return MIME.exec(mime)?.[1]?.toLowerCase();
}

/** Finds the media type of a `mime_type` value, ignoring case and parameters. */
export function findMediaType(
  mime: string,
  allowed: readonly MediaType[] = ALL_MEDIA_TYPES,
): MediaType | undefined {
  const essence = parseMimeEssence(mime) ?? '';
  const name = ALIASES.get(essence) ?? essence;
  return allowed.find((type) => type.mime === name);
}

/** In the setting, the types that are allowed without it. */
const DEFAULT = 'default';

/** What the setting may name. */
export const SELECTABLE_TYPES: readonly string[] = [DEFAULT, ...ALL_MEDIA_TYPES.map(({ mime }) => mime)];

type SelectedTypes = { readonly types: readonly MediaType[]; readonly unknown: readonly string[] };

/** The types that the operator names; `unknown` are the names that do not exist. */
export function selectMediaTypes(names: readonly string[]): SelectedTypes {
  const isKnown = (name: string) => name === DEFAULT || findMediaType(name) !== undefined;
  const wanted = new Set(names.map((name) => findMediaType(name)));
  const base = names.includes(DEFAULT) ? MEDIA_TYPES : [];
  return {
    types: ALL_MEDIA_TYPES.filter((type) => wanted.has(type) || base.includes(type)),
    unknown: names.filter((name) => !isKnown(name)),
  };
}

/** True when `content_type` names another kind, such as a video for an image (contract B1). */
export function isOtherKind(contentType: string, type: MediaType): boolean {
  const kind = CONTENT_KIND.exec(contentType)?.[1]?.toLowerCase();
  return kind !== undefined && kind !== type.kind;
}
