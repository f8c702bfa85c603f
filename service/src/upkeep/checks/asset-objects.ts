// Compares the database with the object store: finds assets whose stored objects are missing or differ.
import { createHash } from 'node:crypto';
import type { Asset } from '../../assets/asset.ts';
import type { OwnManifest } from '../../assets/playback-manifest.ts';
import { EXTRA_FILES } from '../../assets/video-extras.ts';
import { listedTracks, type RunIndex } from '../../encoding/packaging/run-index.ts';
import { initName, isVideo } from '../../encoding/model/cmaf-track.ts';
import {
  captionKey,
  imageThumbnailKey,
  type ObjectKey,
  originalKey,
  posterName,
  renditionKey,
  renditionPrefix,
  THUMBNAIL,
  WAVEFORM,
} from '../../storage/object-key.ts';
import type { UpkeepContext } from '../context.ts';
import type { CheckOptions, Finding } from './check.sql.ts';
import { findSizes } from './object-sizes.ts';

const LOST_ORIGINAL = 'original_missing';

/** A loss that the asset shows already is not found again. */
const showsLoss = ({ warnings, failure }: Asset, plays: boolean): boolean =>
  failure?.code === LOST_ORIGINAL || (plays && warnings.some(({ code }) => code === LOST_ORIGINAL));

const hasOriginal = ({ uploaded_at, refused, original_upload }: Asset): boolean =>
  uploaded_at !== null && !refused && original_upload !== null;

type Comparison = Pick<CheckOptions, 'checksums'> & { readonly signal: AbortSignal };

/** The assets are in the order of their ids. Rows that changed meanwhile are left to the next check. */
export async function compareAssets(
  ctx: UpkeepContext,
  assets: readonly Asset[],
  comparison: Comparison,
): Promise<Finding[]> {
  const sizes = await findSizes(ctx.store, assets.flatMap(listSmallKeys));
  const findings: Finding[] = [];
  for (const asset of assets) {
    comparison.signal.throwIfAborted();
    const found = await compareAsset(ctx, asset, { ...comparison, sizes });
    if (found.length > 0 && (await isUnchanged(ctx, asset))) findings.push(...found);
  }
  return findings;
}

const isUnchanged = async ({ lifecycle }: UpkeepContext, { id, revision }: Asset): Promise<boolean> =>
  (await lifecycle.findAssetById(id))?.revision === revision;

/** Everything but renditions: a video has thousands of them. */
const listSmallKeys = (asset: Asset): ObjectKey[] => [
  ...(hasOriginal(asset) ? [originalKey(asset)] : []),
  ...(asset.playback?.kind === 'image' ? [imageThumbnailKey(asset.id, asset.playback.attempt)] : []),
  ...(asset.captions ?? []).map(({ fileId }) => captionKey(asset.id, fileId)),
];

type Sizes = ReadonlyMap<ObjectKey, number>;
type AssetComparison = Comparison & { readonly sizes: Sizes };

async function compareAsset(
  ctx: UpkeepContext,
  asset: Asset,
  comparison: AssetComparison,
): Promise<Finding[]> {
  const { sizes } = comparison;
  const findings: Finding[] = [];
  const original = hasOriginal(asset) ? originalKey(asset) : undefined;
  const isStored = original !== undefined && sizes.has(original);
  // A file that an attempt in progress makes again is not lost.
  const made = asset.stream_status === 'processing' ? undefined : await findMadeLoss(ctx, asset, sizes);
  const canMakeAgain = isStored && asset.stream_status === 'ready' && asset.deleted_at === null;
  if (made) findings.push({ ...made.finding, repair: canMakeAgain ? 'process_again' : 'none' });
  // What is left of the renditions may be the only copy, so a failure must not end the reference to it.
  const plays = asset.stream_status === 'ready' && asset.playback !== null && !made?.isWhole;
  if (original && !isStored && !showsLoss(asset, plays))
    findings.push({
      kind: 'original_missing',
      repair: plays ? 'warn' : 'fail',
      asset_id: asset.id,
      key: original,
      expected_size_bytes: asset.size_bytes,
    });
  if (original && isStored) findings.push(...(await findDamage(ctx, asset, { ...comparison, original })));
  for (const { fileId, sizeBytes } of asset.captions ?? []) {
    const key = captionKey(asset.id, fileId);
    if (!sizes.has(key))
      findings.push({
        kind: 'captions_missing',
        repair: 'drop_captions',
        asset_id: asset.id,
        key,
        expected_size_bytes: sizeBytes,
      });
  }
  return findings;
}

/** `isWhole`: nothing of it is stored. */
type MadeLoss = { readonly finding: Omit<Finding, 'repair'>; readonly isWhole: boolean };

/** What was made from the original and is missing. Lists the files of one video at a time. */
async function findMadeLoss(ctx: UpkeepContext, asset: Asset, sizes: Sizes): Promise<MadeLoss | undefined> {
  const { id, playback } = asset;
  if (playback?.kind === 'image') {
    const key = imageThumbnailKey(id, playback.attempt);
    if (sizes.has(key)) return undefined;
    return { finding: { kind: 'thumbnail_missing', asset_id: id, key }, isWhole: true };
  }
  if (playback?.kind !== 'own' || playback.growing) return undefined;
  const stored = new Map<ObjectKey, number>();
  for await (const { key, sizeBytes } of ctx.store.listSizes(renditionPrefix(id, playback.folder)))
    stored.set(key, sizeBytes);
  const missing = await findMissingRendition(ctx, { id, playback, stored });
  if (!missing) return undefined;
  return { finding: { kind: 'renditions_missing', asset_id: id, ...missing }, isWhole: stored.size === 0 };
}

type MissingFile = Pick<Finding, 'key' | 'size_bytes' | 'expected_size_bytes'>;

type StoredRun = {
  readonly id: string;
  readonly playback: OwnManifest;
  readonly stored: ReadonlyMap<ObjectKey, number>;
};

/** The first file of a run that is missing or has another size. */
async function findMissingRendition(
  ctx: UpkeepContext,
  { id, playback, stored }: StoredRun,
): Promise<MissingFile | undefined> {
  const { folder } = playback;
  const keyOf = (file: string) => renditionKey(id, folder, file);
  const index = await readIndex(ctx, id, folder);
  if (!index) return { key: keyOf('index.json') };
  for (const [file, bytes] of listFiles(index, playback)) {
    const size = stored.get(keyOf(file));
    if (size === undefined || (bytes !== undefined && size !== bytes))
      return { key: keyOf(file), size_bytes: size ?? null, expected_size_bytes: bytes ?? null };
  }
  return undefined;
}

/** Undefined where it is missing or damaged. */
async function readIndex(ctx: UpkeepContext, assetId: string, folder: string): Promise<RunIndex | undefined> {
  try {
    return await ctx.encoding.readIndex({ assetId, folder });
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof TypeError) return undefined;
    throw error;
  }
}

/** Undefined: its size is not recorded. */
const listFiles = (
  index: RunIndex,
  { posterTimeMs, extras = [] }: OwnManifest,
): (readonly [file: string, bytes: number | undefined])[] => [
  ...listedTracks(index).flatMap(({ id, segments }) => [
    [initName(id), undefined] as const,
    ...segments.map(({ name, bytes }) => [name, bytes] as const),
  ]),
  [posterTimeMs === undefined ? THUMBNAIL : posterName(posterTimeMs), undefined],
  ...(index.tracks.some(isVideo) ? [] : [[WAVEFORM, undefined] as const]),
  ...extras.map((extra) => [EXTRA_FILES[extra], undefined] as const),
];

type Original = AssetComparison & { readonly original: ObjectKey };

/** A stored original with other bytes than were recorded. */
async function findDamage(
  { store }: UpkeepContext,
  asset: Asset,
  { original, sizes, checksums, signal }: Original,
): Promise<Finding[]> {
  const { id, size_bytes: expected, checksum_sha256: sha256 } = asset;
  const size = sizes.get(original) ?? null;
  const found = {
    repair: 'none',
    asset_id: id,
    key: original,
    size_bytes: size,
    expected_size_bytes: expected,
  } as const;
  if (expected !== null && size !== expected) return [{ ...found, kind: 'size_mismatch' }];
  if (!checksums || sha256 === null) return [];
  const hash = createHash('sha256');
  for await (const chunk of store.stream(original)) {
    signal.throwIfAborted();
    hash.update(chunk as Uint8Array);
  }
  return hash.digest('hex') === sha256 ? [] : [{ ...found, kind: 'checksum_mismatch' }];
}
