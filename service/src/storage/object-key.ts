// Names of stored objects: made from ids and our own file names alone, never from user text (design §6).

declare const made: unique symbol;

/** Slash-separated, `[a-z0-9._/-]` only, at most 200 characters. */
export type ObjectKey = string & { readonly [made]: true };

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const FOLDER = /^\d{1,10}-\d{1,10}$/;
const FILE = /^[a-z0-9][a-z0-9_-]{0,60}(?:\.[a-z0-9]{1,8})$/;

/** `originals/<id>/<upload>`: each upload writes to its own key, so that no writer can touch the bytes of another. */
export const uploadKey = (assetId: string, uploadId: string): ObjectKey =>
  join('originals', uuid(assetId), uuid(uploadId));

type Original = { readonly id: string; readonly original_upload: string | null };

/** The key that an asset's row points to; `originals/<id>/original` where an earlier release stored it. */
export const originalKey = ({ id, original_upload: uploadId }: Original): ObjectKey =>
  uploadId === null ? join('originals', uuid(id), 'original') : uploadKey(id, uploadId);

/** `renditions/<id>/<attempt>-<try>/<file>` */
export const renditionKey = (assetId: string, folder: string, file: string): ObjectKey =>
  join('renditions', uuid(assetId), matching(FOLDER, folder), matching(FILE, file));

/** `variants/<id>/<file>` */
export const variantKey = (assetId: string, file: string): ObjectKey =>
  join('variants', uuid(assetId), matching(FILE, file));

/** A picture's, among its variants; a video's lies with its renditions. */
export const THUMBNAIL = 'thumb.jpg';

/** The picture of one time of a video, beside its thumbnail. */
export const posterName = (timeMs: number): string => `poster-${timeMs}.jpg`;

const KINDS = ['originals', 'renditions', 'variants'] as const;
type Kind = (typeof KINDS)[number];

/** The prefixes below which everything lies. */
export const storeRoots = (): ObjectKey[] => KINDS.map((kind) => below(kind));

/** Everything that is stored of one asset, as prefixes that end in a slash. */
export const assetPrefixes = (assetId: string): ObjectKey[] =>
  KINDS.map((kind) => assetPrefix(kind, assetId));

export const originalPrefix = (assetId: string): ObjectKey => assetPrefix('originals', assetId);
export const renditionsPrefix = (assetId: string): ObjectKey => assetPrefix('renditions', assetId);
export const variantsPrefix = (assetId: string): ObjectKey => assetPrefix('variants', assetId);
export const renditionPrefix = (assetId: string, folder: string): ObjectKey =>
  below('renditions', uuid(assetId), matching(FOLDER, folder));

const assetPrefix = (kind: Kind, assetId: string) => below(kind, uuid(assetId));

/** The folder of one worker's run within an attempt. */
export const renditionFolder = (attempt: number, run: number): string => `${attempt}-${run}`;

/** Whether a path segment from a URL can name a rendition folder and file at all. */
export const isRenditionName = (folder: string, file: string): boolean =>
  FOLDER.test(folder) && FILE.test(file);

const uuid = (id: string) => matching(UUID, id.toLowerCase());

function matching(form: RegExp, part: string): string {
  if (!form.test(part)) throw new Error('not a part of an object key');
  return part;
}

const join = (...parts: string[]) => parts.join('/') as ObjectKey;
const below = (...parts: string[]) => `${join(...parts)}/` as ObjectKey;
