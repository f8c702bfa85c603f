// Stores the variants of an asset: their total size, outdated variants and recorded failures (contract B5).
import { unavailable } from '../platform/errors.ts';
import { type ObjectKey, THUMBNAIL, variantKey, variantsPrefix } from '../storage/object-key.ts';
import { ObjectRefused, type ObjectStore } from '../storage/object-store.ts';
import { isRefusal, unlessStored } from '../storage/whole-objects.ts';
import type { ImageRefusal } from './image-processor.ts';

/** The variant could not be rendered, or the asset's variants exceed the storage limit. */
export type VariantRefusal = ImageRefusal | 'storage_limit';

/** Far above the size of any variant. */
const MAX_VARIANT_BYTES = 512 * 1024 * 1024;
const MARKER = 'late-';
/** Variants of a poster are prefixed by its version (image-source.ts); frames are no variants. */
const POSTER_VARIANT = RegExp(`^(?:${MARKER})?v\\d`);

const markerKey = (assetId: string, file: string): ObjectKey => variantKey(assetId, `${MARKER}${file}`);
const fileOf = (key: ObjectKey): string => key.slice(key.lastIndexOf('/') + 1);

/** Failures are recorded in the store, so that every process sees them. Deletes an expired record. */
export async function findRefusal(
  store: ObjectStore,
  { assetId, file, now }: { readonly assetId: string; readonly file: string; readonly now: Date },
): Promise<VariantRefusal | undefined> {
  const key = markerKey(assetId, file);
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
  await storeVariant(store, markerKey(assetId, file), record);
}

/** Lists the file names of the asset's variants without the prefix. */
export async function listVariants(store: ObjectStore, assetId: string, prefix: string): Promise<string[]> {
  const names: string[] = [];
  for await (const key of store.list(variantsPrefix(assetId)))
    if (fileOf(key).startsWith(prefix)) names.push(fileOf(key).slice(prefix.length));
  return names;
}

/** Total size of all variants, without the thumbnail. */
export async function countStoredBytes(store: ObjectStore, assetId: string): Promise<number> {
  let bytes = 0;
  for await (const { key, sizeBytes } of store.listSizes(variantsPrefix(assetId)))
    if (fileOf(key) !== THUMBNAIL) bytes += sizeBytes;
  return bytes;
}

/** Deletes the variants of earlier posters. */
export async function removeOutdated(store: ObjectStore, assetId: string, prefix: string): Promise<void> {
  if (prefix === '') return;
  const outdated: ObjectKey[] = [];
  for await (const key of store.list(variantsPrefix(assetId))) {
    const file = fileOf(key);
    if (POSTER_VARIANT.test(file) && !file.startsWith(prefix) && !file.startsWith(`${MARKER}${prefix}`))
      outdated.push(key);
  }
  for (const key of outdated) await store.remove(key);
}

/** An existing object has the same bytes. */
export const storeVariant = (store: ObjectStore, key: ObjectKey, bytes: Uint8Array): Promise<void> =>
  unlessStored(putVariant(store, key, bytes)).catch(throwFull);

/** An existing object may have other bytes. */
export async function replaceVariant(store: ObjectStore, key: ObjectKey, bytes: Uint8Array): Promise<void> {
  try {
    await putVariant(store, key, bytes);
  } catch (error) {
    if (!isRefusal(error, 'exists')) return throwFull(error);
    await store.remove(key);
    await storeVariant(store, key, bytes);
  }
}

const putVariant = (store: ObjectStore, key: ObjectKey, bytes: Uint8Array): Promise<unknown> =>
  store.put(key, once(bytes), MAX_VARIANT_BYTES);

function throwFull(error: unknown): never {
  if (!(error instanceof ObjectRefused)) throw error;
  throw unavailable('The object store has no space left for images', error);
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}
