// The stored objects that the row of an asset names: pure. A change that ends a reference defers removal.
import { type Asset, type AssetFile, isPurged } from '../../assets/asset.ts';
import { withPreviousFile } from '../../assets/previous-version.ts';
import {
  captionKey,
  imageThumbnailKey,
  type ObjectKey,
  originalKey,
  renditionPrefix,
} from '../../storage/object-key.ts';

/**
 * Keys, and prefixes that end in a slash, that `before` names and `after` does not. Without refused
 * originals, and without variants and frames, which are rendered again on demand.
 */
export function findEndedReferences(before: Asset, after: Asset): ObjectKey[] {
  const remaining = new Set(listReferences(after));
  const refused = after.refused && before.uploaded_at !== null ? originalKey(before) : undefined;
  return listReferences(before).filter((key) => key !== refused && !remaining.has(key));
}

/** `place`: a key or prefix as `findEndedReferences` returns it. */
export const isReferenced = (asset: Asset, place: ObjectKey): boolean =>
  listReferences(asset).includes(place);

/** Of its file, and of the one before it. */
export function listReferences(asset: Asset): ObjectKey[] {
  if (isPurged(asset)) return [];
  const previous = withPreviousFile(asset);
  return [...listFileReferences(asset), ...(previous ? listFileReferences(previous) : [])];
}

/** Also of a file that is deleted for good. */
export function listFileReferences(asset: Pick<Asset, 'id'> & AssetFile): ObjectKey[] {
  const { id, uploaded_at: uploadedAt, playback, captions } = asset;
  return [
    ...(uploadedAt === null ? [] : [originalKey(asset)]),
    ...(playback?.kind === 'own' ? [renditionPrefix(id, playback.folder)] : []),
    ...(playback?.kind === 'image' ? [imageThumbnailKey(id, playback.attempt)] : []),
    ...(captions ?? []).map(({ fileId }) => captionKey(id, fileId)),
  ];
}

/** `deferred`: the keys and prefixes of the asset that wait for their removal. */
export const isDeferred = (key: string, deferred: readonly string[]): boolean =>
  deferred.some((place) => (place.endsWith('/') ? key.startsWith(place) : key === place));
