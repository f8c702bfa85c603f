// Examines uploaded images, and renders variants on their first request (contract B5).
import type { Asset, PlaybackAsset } from '../assets/asset.ts';
import { playbackNotFound } from '../assets/playback-manifest.ts';
import type { LocalFile } from '../storage/local-file.ts';
import { type ObjectKey, originalKey, THUMBNAIL, variantKey, variantsPrefix } from '../storage/object-key.ts';
import type { ObjectStore } from '../storage/object-store.ts';
import type { ImagesContext, VariantsContext } from './context.ts';
import type { ImageFacts, ImageRefusal } from './image-processor.ts';
import { type VariantSource, findVariantSource, parseJpegSize } from './image-source.ts';
import {
  chooseVariant,
  improvedVariant,
  variantContentType,
  type OriginalImage,
  type Variant,
  type VariantQuery,
  variantName,
} from './variants/image-variant.ts';
import { cheaperVariant, closestVariant } from './variants/variant-substitute.ts';
import {
  findRefusal,
  readStored,
  recordRefusal,
  removeOutdated,
  replaceThumbnail,
  type StoredVariants,
  storeVariant,
  variantNames,
  type VariantRefusal,
} from './variants/variant-store.ts';

/** Larger files are not decoded, because they are read into memory. */
const MAX_BYTES = 256 * 1024 * 1024;

export type ExaminationResult = { readonly facts: ImageFacts } | { readonly refused: ImageRefusal };

type ExamineOptions = {
  readonly signal?: AbortSignal;
  /** False if these are not the announced bytes: they are not decoded. */
  readonly verify?: (original: LocalFile) => Promise<boolean>;
};

/**
 * Reads the properties of an image and stores its thumbnail, or returns why the image is rejected. Undefined
 * if `verify` returned false.
 */
export async function examine(
  { store, imageProcessor, storage }: ImagesContext,
  asset: Asset,
  { signal, verify = async () => true }: ExamineOptions = {},
): Promise<ExaminationResult | undefined> {
  if ((asset.size_bytes ?? 0) > MAX_BYTES) return { refused: 'too_demanding' };
  const file = storage.prepareLocalFile(originalKey(asset));
  const examined = await file
    .open(signal)
    .then(async (original) => ((await verify(original)) ? imageProcessor.examine(original.path) : undefined))
    .finally(file.close);
  if (!examined || 'refused' in examined) return examined;
  // An earlier run may have stopped before it reported.
  await replaceThumbnail(store, asset, examined.thumbnail);
  return { facts: examined.facts };
}

/** Deletes all variants of the asset. */
export const deleteVariants = (ctx: ImagesContext, assetId: string): Promise<void> =>
  ctx.lifecycle.removeUnlessDeferred(assetId, variantsPrefix(assetId));

type VariantRequest = { readonly query: VariantQuery; readonly accept: string | undefined };

/** `substituteFor`: why the response contains another variant than the requested one. */
type ServedVariant = {
  readonly key: ObjectKey;
  readonly type: string;
  readonly name: string;
  readonly substituteFor?: VariantRefusal;
};

/** What variants are rendered from. */
type Picture = { readonly asset: PlaybackAsset; readonly source: VariantSource };

type Rendering = Picture & {
  readonly original: OriginalImage;
  readonly accept: string | undefined;
};

/** Returns the stored variant, renders it if necessary, or returns a substitute if it cannot be rendered. */
export async function getVariant(
  ctx: VariantsContext,
  asset: PlaybackAsset,
  { query, accept }: VariantRequest,
): Promise<ServedVariant> {
  const source = findVariantSource(asset);
  if (!source) throw playbackNotFound();
  const original = await originalOf(ctx.store, source);
  const rendering: Rendering = { asset, source, original, accept };
  const variant = chooseVariant(original, query, accept);
  const improved = improvedVariant(variant);
  if (improved && (await ctx.store.size(keyOf(rendering, improved))) !== undefined)
    return { ...served(rendering, variantName(improved), improved.format), name: variantName(variant) };
  const refusal = await ensureStored(ctx, rendering, variant);
  if (refusal === undefined) return served(rendering, variantName(variant), variant.format);
  return { ...(await substitute(ctx, rendering, { variant, refusal })), substituteFor: refusal };
}

const served = ({ asset, source }: Rendering, name: string, format: Variant['format']): ServedVariant => ({
  key: variantKey(asset.id, `${source.prefix}${name}`),
  type: variantContentType({ format }),
  name,
});

const keyOf = ({ asset, source }: Picture, variant: Variant): ObjectKey =>
  variantKey(asset.id, `${source.prefix}${variantName(variant)}`);

/** Renders at most one cheaper variant, because the viewer has already waited for the first. */
async function substitute(
  ctx: VariantsContext,
  rendering: Rendering,
  { variant, refusal }: { readonly variant: Variant; readonly refusal: VariantRefusal },
): Promise<ServedVariant> {
  const { asset, source, original, accept } = rendering;
  const cheaper = refusal === 'storage_limit' ? undefined : cheaperVariant(variant, original, accept);
  if (cheaper && (await ensureStored(ctx, rendering, cheaper)) === undefined)
    return served(rendering, variantName(cheaper), cheaper.format);
  const names = variantNames(await readStored(ctx.store, asset.id), source.prefix);
  const closest = closestVariant(names, variant, accept);
  return closest
    ? served(rendering, closest.name, closest.format)
    : { key: source.thumbnail, type: variantContentType({ format: 'jpeg' }), name: THUMBNAIL };
}

/** Resolves when the variant is stored, or with the reason why it is not. */
export async function ensureStored(
  ctx: VariantsContext,
  picture: Picture,
  variant: Variant,
): Promise<VariantRefusal | undefined> {
  const { id: assetId } = picture.asset;
  const file = `${picture.source.prefix}${variantName(variant)}`;
  const key = variantKey(assetId, file);
  if ((await ctx.store.size(key)) !== undefined) return undefined;
  const work = async () => {
    const stored = await readStored(ctx.store, assetId);
    const known = await findRefusal(ctx.store, stored, { assetId, file, now: ctx.now() });
    return known ?? render(ctx, picture, { variant, file, stored });
  };
  return ctx.inFlight(key, work, { owner: picture.asset.owner_user_id, item: assetId });
}

type NewVariant = { readonly variant: Variant; readonly file: string; readonly stored: StoredVariants };

async function render(
  ctx: VariantsContext,
  picture: Picture,
  { variant, file, stored }: NewVariant,
): Promise<VariantRefusal | undefined> {
  const { store, now, settings } = ctx;
  const { id: assetId } = picture.asset;
  const rendered = await renderWithinLimits(ctx, picture, { variant, stored });
  if (rendered === 'storage_limit') return rendered;
  if ('refused' in rendered)
    await recordRefusal(store, {
      assetId,
      file,
      reason: rendered.refused,
      until: new Date(now().getTime() + settings.variantRetrySeconds * 1000),
    });
  else await storeVariant(store, variantKey(assetId, file), rendered.bytes);
  const improved = 'refused' in rendered ? undefined : improvedVariant(variant);
  if (improved) await sendImprovement(ctx, picture, improved);
  await deleteIfAssetDeleted(ctx, assetId);
  return 'refused' in rendered ? rendered.refused : undefined;
}

const sendImprovement = ({ db, jobs }: ImagesContext, { asset, source }: Picture, improved: Variant) =>
  db.transaction((tx) =>
    jobs.sendFor(tx, asset.owner_user_id, {
      name: 'improve-variant',
      payload: { assetId: asset.id, file: `${source.prefix}${variantName(improved)}` },
    }),
  );

type Rendered = { readonly bytes: Uint8Array } | { readonly refused: VariantRefusal };

/** Below this part of the limit, variants that other requests stored meanwhile are not counted. */
const PART_FAR_FROM_LIMIT = 1 / 8;

/** A plain `storage_limit` means that nothing was rendered, so the failure need not be recorded. */
async function renderWithinLimits(
  { store, imageProcessor, settings, storage }: ImagesContext,
  { asset, source }: Picture,
  { variant, stored: found }: Omit<NewVariant, 'file'>,
): Promise<Rendered | 'storage_limit'> {
  if ((await store.size(source.key)) === undefined) throw playbackNotFound();
  const stored = await removeOutdated(store, found, { assetId: asset.id, source });
  if (stored.bytes >= settings.maxVariantBytes) return 'storage_limit';
  const file = storage.prepareLocalFile(source.key);
  const openSource = async () => (await file.open()).path;
  const rendered = await imageProcessor.render(openSource, variant, asset).finally(file.close);
  if ('refused' in rendered) return rendered;
  const added = rendered.bytes.byteLength;
  if (stored.bytes + added <= settings.maxVariantBytes * PART_FAR_FROM_LIMIT) return rendered;
  const { bytes } = await readStored(store, asset.id);
  return bytes + added > settings.maxVariantBytes ? { refused: 'storage_limit' } : rendered;
}

/** The asset may have been deleted while the variant was rendered. */
async function deleteIfAssetDeleted(ctx: ImagesContext, assetId: string): Promise<void> {
  const asset = await ctx.lifecycle.findAssetById(assetId);
  if (!asset || (asset.deleted_at && !asset.purge_at)) await deleteVariants(ctx, assetId);
}

async function originalOf(
  store: ObjectStore,
  { key, size, ...facts }: VariantSource,
): Promise<OriginalImage> {
  const known = size ?? (await readJpegSize(store, key));
  if (!known) throw playbackNotFound();
  return { ...facts, ...known };
}

/** Posters are smaller than the 1 MiB that `read` returns. */
async function readJpegSize(store: ObjectStore, key: ObjectKey): Promise<ReturnType<typeof parseJpegSize>> {
  const found = await store.read(key);
  return found?.bytes && parseJpegSize(found.bytes);
}
