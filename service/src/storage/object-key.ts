// Builds the keys of stored objects from ids and constant file names, never from user text.

declare const isObjectKey: unique symbol;

/** Slash-separated; contains only `[a-z0-9._/-]`; at most 200 characters. */
export type ObjectKey = string & { readonly [isObjectKey]: true };

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const FOLDER = /^\d{1,10}-\d{1,10}$/;
const ORIGINAL = /^[0-9a-f-]{36}(?:\.tail-[0-9a-f-]{36})?$/;
const FILE = /^[a-z0-9][a-z0-9_-]{0,60}(?:\.[a-z0-9]{1,8})$/;

/**
 * `originals/<id>/<upload>`: each upload has its own key, so that concurrent uploads cannot overwrite each
 * other.
 */
export const uploadKey = (assetId: string, uploadId: string): ObjectKey =>
  join('originals', uuid(assetId), uuid(uploadId));

/** `originals/<id>/<upload>.tail-<tail>`: the last bytes of an upload that is not finished. */
export const tailKey = (upload: ObjectKey, tail: string): ObjectKey =>
  `${tailPrefix(upload)}${uuid(tail)}` as ObjectKey;

export const tailPrefix = (upload: ObjectKey): ObjectKey => `${upload}${TAIL}` as ObjectKey;
const TAIL = '.tail-';

/** The upload that an object of an asset's originals belongs to. */
export function parseOriginalName(name: string): { readonly upload: string; readonly isTail: boolean } {
  const [upload = '', tail] = name.split(TAIL);
  return { upload, isTail: tail !== undefined };
}

type Original = { readonly id: string; readonly original_upload: string | null };

/** The key of an asset's current original. Throws for an asset that never had one. */
export function originalKey({ id, original_upload: uploadId }: Original): ObjectKey {
  if (uploadId === null) throw new Error('the asset has no original');
  return uploadKey(id, uploadId);
}

/** `renditions/<id>/<attempt>-<run>/<file>` */
export const renditionKey = (assetId: string, folder: string, file: string): ObjectKey =>
  join('renditions', uuid(assetId), matching(FOLDER, folder), matching(FILE, file));

/** `variants/<id>/<file>` */
export const variantKey = (assetId: string, file: string): ObjectKey =>
  join('variants', uuid(assetId), matching(FILE, file));

/** `captions/<id>/<file>.vtt` */
export const captionKey = (assetId: string, fileId: string): ObjectKey =>
  join('captions', uuid(assetId), `${uuid(fileId)}.vtt`);

/** File name of the thumbnail: among the variants of an image, among the renditions of a video. */
export const THUMBNAIL = 'thumb.jpg';

/** An image has another thumbnail in each attempt, because a file that was replaced may come back. */
export const imageThumbnailKey = (assetId: string, attempt: number): ObjectKey =>
  variantKey(assetId, attempt === 1 ? THUMBNAIL : `thumb-${attempt}.jpg`);

export const isImageThumbnail = (file: string): boolean => /^thumb(?:-\d+)?\.jpg$/.test(file);

/** File name of the waveform of an audio asset, beside its thumbnail. */
export const WAVEFORM = 'waveform.json';

/** File name of the video frame at a time, stored beside the thumbnail. */
export const posterName = (timeMs: number): string => `poster-${timeMs}.jpg`;

const KINDS = ['originals', 'renditions', 'variants', 'captions'] as const;
type Kind = (typeof KINDS)[number];

/** The prefixes of all stored objects. */
export const storeRoots = (): ObjectKey[] => KINDS.map((kind) => below(kind));

/** The prefixes of all objects of an asset, each ending in a slash. */
export const assetPrefixes = (assetId: string): ObjectKey[] =>
  KINDS.map((kind) => assetPrefix(kind, assetId));

export const originalPrefix = (assetId: string): ObjectKey => assetPrefix('originals', assetId);
export const renditionsPrefix = (assetId: string): ObjectKey => assetPrefix('renditions', assetId);
export const variantsPrefix = (assetId: string): ObjectKey => assetPrefix('variants', assetId);
export const renditionPrefix = (assetId: string, folder: string): ObjectKey =>
  below('renditions', uuid(assetId), matching(FOLDER, folder));

const assetPrefix = (kind: Kind, assetId: string) => below(kind, uuid(assetId));

/** The key of the same object at another asset. */
export function toKeyOf(assetId: string, key: ObjectKey): ObjectKey {
  const [kind = '', , ...name] = key.split('/');
  return join(kind, uuid(assetId), ...name);
}

/** The folder of a worker's run within an attempt. */
export const renditionFolder = (attempt: number, run: number): string => `${attempt}-${run}`;

/** Validates path segments of a URL before a key is built from them. */
export const isRenditionName = (folder: string, file: string): boolean =>
  FOLDER.test(folder) && FILE.test(file);

/** False for objects that another program stored below the prefixes of the service. */
export function isOwnObjectKey(key: string): boolean {
  const [kind, assetId = '', name = '', file, ...more] = key.split('/');
  if (!UUID.test(assetId) || more.length > 0) return false;
  if (kind === 'renditions') return file !== undefined && isRenditionName(name, file);
  if (file !== undefined) return false;
  if (kind === 'originals') return ORIGINAL.test(name);
  return (kind === 'variants' || kind === 'captions') && FILE.test(name);
}

const uuid = (id: string) => matching(UUID, id.toLowerCase());

function matching(form: RegExp, part: string): string {
  if (!form.test(part)) throw new Error('not a part of an object key');
  return part;
}

const join = (...parts: string[]) => parts.join('/') as ObjectKey;
const below = (...parts: string[]) => `${join(...parts)}/` as ObjectKey;
