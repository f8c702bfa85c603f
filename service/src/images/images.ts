// What can be done with a stored picture: examine it once, and make what viewers ask for when they first ask (contract B5).
import type { Asset } from '../assets/asset.ts';
import { notFound, unavailable } from '../platform/errors.ts';
import type { SingleFlight } from '../platform/single-flight.ts';
import { type ObjectKey, originalKey, THUMBNAIL, variantKey, variantsPrefix } from '../storage/object-key.ts';
import { ObjectRefused, type ObjectStore } from '../storage/object-store.ts';
import type { ImageFacts, ImageProcessor, ImageRefusal, ImageSource } from './image-processor.ts';
import { chooseVariant, nameOf, type Original, typeOf, type Variant, type Wish } from './image-variant.ts';

export type ImageNeeds = {
  readonly byId: (id: string) => Promise<Asset | undefined>;
  readonly store: ObjectStore;
  readonly processor: ImageProcessor;
  readonly inFlight: SingleFlight;
};

/** A picture that fills more is no picture that we decode in memory. */
const MAX_BYTES = 256 * 1024 * 1024;
/** Nothing that is made comes near to this. */
const MAX_MADE_BYTES = 512 * 1024 * 1024;

/** What the picture is, with its thumbnail stored; or why it is none. */
export async function examine(
  { store, processor }: ImageNeeds,
  asset: Asset,
): Promise<{ facts: ImageFacts } | { refused: ImageRefusal }> {
  if ((asset.size_bytes ?? 0) > MAX_BYTES) return { refused: 'too_demanding' };
  const seen = await processor.examine(sourceOf(store, asset));
  if ('refused' in seen) return seen;
  const key = variantKey(asset.id, THUMBNAIL);
  await store.remove(key); // an earlier run may have been stopped before it could tell
  await keep(store, key, seen.thumbnail);
  return { facts: seen.facts };
}

/** Removes all that was made of the picture. */
export const forget = async ({ store }: ImageNeeds, assetId: string): Promise<void> => {
  await store.removeAll(variantsPrefix(assetId));
};

export type Asked = { readonly wish: Wish; readonly accept: string | undefined };
export type Made = { readonly key: ObjectKey; readonly type: string; readonly name: string };

/** The picture as this viewer should get it, made now if nobody asked for it before. */
export async function variantOf(needs: ImageNeeds, asset: Asset, { wish, accept }: Asked): Promise<Made> {
  const variant = chooseVariant(originalOf(asset), wish, accept);
  const name = nameOf(variant);
  const key = variantKey(asset.id, name);
  if ((await needs.store.size(key)) === undefined)
    await needs.inFlight(key, () => make(needs, asset, { key, variant }));
  return { key, type: typeOf(variant), name };
}

function originalOf({ width, height, playback }: Asset): Original {
  if (playback?.kind !== 'image' || width === null || height === null)
    throw notFound('There is no picture here');
  return { width, height, animated: playback.animated, alpha: playback.alpha };
}

type Making = { readonly key: ObjectKey; readonly variant: Variant };

async function make(
  { byId, store, processor }: ImageNeeds,
  asset: Asset,
  { key, variant }: Making,
): Promise<void> {
  if ((await store.size(originalKey(asset))) === undefined) throw notFound('There is no picture here');
  const made = await processor.render(sourceOf(store, asset), variant);
  if ('refused' in made) throw unavailable('This picture could not be made in time', made.refused);
  await keep(store, key, made.bytes);
  // Deleted in the meantime: its bytes may have been removed before ours came.
  if ((await byId(asset.id))?.deleted_at !== null) await store.remove(key);
}

function sourceOf(store: ObjectStore, asset: Asset): ImageSource {
  const key = originalKey(asset);
  return store.localFile?.(key) ?? (async () => Buffer.concat(await store.stream(key).toArray()));
}

/** Whoever was faster made the same. */
async function keep(store: ObjectStore, key: ObjectKey, bytes: Uint8Array): Promise<void> {
  try {
    await store.put(key, once(bytes), MAX_MADE_BYTES);
  } catch (error) {
    if (!(error instanceof ObjectRefused)) throw error;
    if (error.reason !== 'exists') throw unavailable('There is no space left for pictures', error);
  }
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}
