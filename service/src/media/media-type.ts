// The media types that may be uploaded (contract B1).
import type { Container } from './probe.ts';

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
  | 'mpegts';

type MediaTypeBase = {
  readonly mime: string;
  readonly extension: string;
  /** Accepted file formats. */
  readonly signatures: readonly Signature[];
};

type ImageType = MediaTypeBase & { readonly kind: 'image' };
type VideoType = MediaTypeBase & { readonly kind: 'video'; readonly container: Container };
export type MediaType = ImageType | VideoType;

/** Must not contain SVG or HTML: a browser would run their scripts in the origin of the service. */
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
];

/** Names that browsers and phones send for a type of the table. */
const ALIASES: ReadonlyMap<string, string> = new Map([
  ['image/jpg', 'image/jpeg'],
  ['video/x-m4v', 'video/mp4'],
]);

const MIME = /^[\t ]*([\w!#$&^.+-]+\/[\w!#$&^.+-]+)[\t ]*(?:;[\t\x20-\x7e]*)?$/;
const CONTENT_KIND = /^\s*(image|video)\s*(?:\/|$)/i;

/** `type/subtype` in lower case without parameters; undefined when invalid. */
export function parseMimeEssence(mime: string): string | undefined {
  return MIME.exec(mime)?.[1]?.toLowerCase();
}

/** Finds the media type of a `mime_type` value, ignoring case and parameters. */
export function findMediaType(
  mime: string,
  allowed: readonly MediaType[] = MEDIA_TYPES,
): MediaType | undefined {
  const essence = parseMimeEssence(mime) ?? '';
  const name = ALIASES.get(essence) ?? essence;
  return allowed.find((type) => type.mime === name);
}

/** The types that the operator allows. Unknown types are ignored. */
export function selectMediaTypes(mimes: readonly string[]): readonly MediaType[] {
  const wanted = new Set(mimes.map((mime) => findMediaType(mime)));
  return MEDIA_TYPES.filter((type) => wanted.has(type));
}

/** True when `content_type` names an image for a video or a video for an image (contract B1). */
export function isOtherKind(contentType: string, type: MediaType): boolean {
  const kind = CONTENT_KIND.exec(contentType)?.[1]?.toLowerCase();
  return kind !== undefined && kind !== type.kind;
}
