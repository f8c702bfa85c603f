// Stores the variants of an asset: their total size, outdated variants and recorded failures (contract B5).
import type { Asset } from '../../assets/asset.ts';
import { unavailable } from '../../platform/http/errors.ts';
import {
  imageThumbnailKey,
  isImageThumbnail,
  type ObjectKey,
  variantKey,
  variantsPrefix,
} from '../../storage/object-key.ts';
import { ObjectStoreError, type ObjectStore } from '../../storage/object-store.ts';
import { isRefusal, unlessStored } from '../../storage/whole-objects.ts';
import type { ImageRefusal } from '../image-processor.ts';
import type { VariantSource } from '../image-source.ts';
import { FOCAL_PART, formatFocalPoint } from './image-edits.ts';

/** The variant could not be rendered, or the asset's variants exceed the storage limit. */
export type VariantRefusal = ImageRefusal | 'storage_limit';

/** Far above the size of any variant. */
const MAX_VARIANT_BYTES = 512 * 1024 * 1024;
const MARKER = 'late-';
/** Variants of a poster are prefixed by its version (image-source.ts); frames are no variants. */
const POSTER_VARIANT = RegExp(`^(?:${MARKER})?v\\d`);
/** Those of an image whose file is not its first one are prefixed by the attempt. */
const LATER_VARIANT = RegExp(`^(?:${MARKER})?a\\d+-`);

const markerOf = (file: string): string => `${MARKER}${file}`;
const fileOf = (key: ObjectKey): string => key.slice(key.lastIndexOf('/') + 1);

/** `bytes`: the total size without thumbnails. */
export type StoredVariants = { readonly files: ReadonlySet<string>; readonly bytes: number };

/** Reads everything that is stored of an asset's variants in one list. */
export async function readStored(store: ObjectStore, assetId: string): Promise<StoredVariants> {
  const files = new Set<string>();
  let bytes = 0;
  for await (const { key, sizeBytes } of store.listSizes(variantsPrefix(assetId))) {
    files.add(fileOf(key));
    if (!isImageThumbnail(fileOf(key))) bytes += sizeBytes;
  }
  return { files, bytes };
}

type RequestedVariant = { readonly assetId: string; readonly file: string; readonly now: Date };

/** Failures are recorded in the store, so that every process sees them. Deletes an expired record. */
export async function findRefusal(
  store: ObjectStore,
  { files }: StoredVariants,
  { assetId, file, now }: RequestedVariant,
): Promise<VariantRefusal | undefined> {
  if (!files.has(markerOf(file))) return undefined;
  const key = variantKey(assetId, markerOf(file));
  const marker = await store.read(key);
  if (!marker?.bytes) return undefined;
  const [reason, until] = new TextDecoder().decode(marker.bytes).split(' ');
  if (Date.parse(until ?? '') > now.getTime()) return reason as VariantRefusal;
  await store.remove(key);
  return undefined;
}

type RefusalRecord = {
  readonly assetId: string;
  readonly file: string;
  readonly reason: VariantRefusal;
  /** The variant is retried after this time, because the machine may only have been busy. */
  readonly until: Date;
};

export async function recordRefusal(
  store: ObjectStore,
  { assetId, file, reason, until }: RefusalRecord,
): Promise<void> {
  const record = new TextEncoder().encode(`${reason} ${until.toISOString()}`);
  await storeVariant(store, variantKey(assetId, markerOf(file)), record);
}

/** The names of the variants of an image, without the prefix. */
export const variantNames = ({ files }: StoredVariants, prefix: string): string[] =>
  Array.from(files)
    .filter((file) => file.startsWith(prefix) && (prefix !== '' || !LATER_VARIANT.test(file)))
    .map((file) => file.slice(prefix.length));

type CurrentSource = Pick<VariantSource, 'prefix' | 'focalPoint'>;

/** Deletes the variants of other posters, files and focal points. Returns what is left. */
export async function removeOutdated(
  store: ObjectStore,
  stored: StoredVariants,
  { assetId, source }: { readonly assetId: string; readonly source: CurrentSource },
): Promise<StoredVariants> {
  const outdated = [...stored.files].filter((file) => isOutdated(file, source));
  for (const file of outdated) await store.remove(variantKey(assetId, file));
  return outdated.length === 0 ? stored : readStored(store, assetId);
}

/** True for variants of another poster, file or focal point, and for records of their failures. */
export function isOutdated(file: string, { prefix, focalPoint }: CurrentSource): boolean {
  const isCurrent = file.startsWith(prefix) || file.startsWith(markerOf(prefix));
  if (POSTER_VARIANT.test(prefix)) return POSTER_VARIANT.test(file) && !isCurrent;
  if (isImageThumbnail(file)) return false;
  if (prefix === '' ? LATER_VARIANT.test(file) : !isCurrent) return true;
  const [, point] = FOCAL_PART.exec(file) ?? [];
  return point !== undefined && (focalPoint === null || point !== formatFocalPoint(focalPoint));
}

/** An existing object has the same bytes. */
export const storeVariant = (store: ObjectStore, key: ObjectKey, bytes: Uint8Array): Promise<void> =>
  unlessStored(store.put(key, [bytes], MAX_VARIANT_BYTES)).catch(throwFull);

/** Nobody reads the thumbnail before the image is ready. An existing one may have other bytes. */
export async function replaceThumbnail(
  store: ObjectStore,
  { id, attempt }: Pick<Asset, 'id' | 'attempt'>,
  bytes: Uint8Array,
): Promise<void> {
  const key = imageThumbnailKey(id, attempt);
  try {
    await store.putSmall(key, [bytes]);
  } catch (error) {
    if (!isRefusal(error, 'exists')) return throwFull(error);
    await store.remove(key);
    await unlessStored(store.putSmall(key, [bytes])).catch(throwFull);
  }
}

function throwFull(error: unknown): never {
  if (!(error instanceof ObjectStoreError)) throw error;
  throw unavailable('The object store has no space left for images', error);
}
