// Renders the frame at a time of a video on its first request and stores it. Above the limits of the video,
// the nearest stored frame takes its place (contract B5).
import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import { isPurged, type PlaybackAsset } from '../../assets/asset.ts';
import { playbackNotFound } from '../../assets/playback-manifest.ts';
import { EncodeError } from '../../encoding/encoder.ts';
import { initName, isVideo } from '../../encoding/model/cmaf-track.ts';
import { getVideoForWidth, segmentAtTime } from '../../encoding/model/track-choice.ts';
import { listedTracks } from '../../encoding/packaging/run-index.ts';
import { perSecondOf } from '../../encoding/plan/source/frame-rate.ts';
import { storeVariant } from '../../images/variants/variant-store.ts';
import { busy, ServiceError } from '../../platform/http/errors.ts';
import { readScratchFile, writeScratchFile } from '../../platform/process/scratch-file.ts';
import { createScratchFolder, deleteScratchFolder } from '../../platform/process/scratch-folder.ts';
import { type ObjectKey, renditionKey, variantKey, variantsPrefix } from '../../storage/object-key.ts';
import type { ObjectStore } from '../../storage/object-store.ts';
import { readJoined } from '../../storage/whole-objects.ts';
import type { ServingContext } from '../context.ts';
import { findNearestFrame, type Frame, frameName, framePrefix, isFrameName } from './frame-query.ts';

/** `nearest`: a stored frame instead of one that is not rendered. */
type FoundFrame = { readonly key: ObjectKey } | { readonly nearest: Frame };

const DEADLINE_MS = 10_000;

/**
 * Returns the stored frame, renders it, or names the nearest stored one if the video has used up its limits.
 * Throws UNAVAILABLE when too many are being rendered, or no frame is stored.
 */
export async function findFrame(
  ctx: ServingContext,
  asset: PlaybackAsset,
  frame: Frame,
): Promise<FoundFrame> {
  if (asset.playback?.kind !== 'own' || asset.playback.growing) throw playbackNotFound();
  const { folder } = asset.playback;
  const key = variantKey(asset.id, frameName(folder, frame));
  if ((await ctx.store.size(key)) !== undefined) return { key };
  if (ctx.settings.encoderMissing !== undefined) throw encoderMissing();
  const request = { assetId: asset.id, owner: asset.owner_user_id, folder, key, frame };
  return ctx.frameLimits.inFlight(key, () => renderWithinLimits(ctx, request), {
    owner: request.owner,
    item: request.assetId,
  });
}

const encoderMissing = () =>
  new ServiceError(
    'UNAVAILABLE',
    'ffmpeg is not installed where this process runs, so it cannot render frames',
    {
      details: { reason: 'encoder_missing' },
    },
  );

type NewFrame = {
  readonly assetId: string;
  readonly owner: string;
  readonly folder: string;
  readonly key: ObjectKey;
  readonly frame: Frame;
};

/** A frame that could not be stored is not rendered: each request would render it again. */
async function renderWithinLimits(ctx: ServingContext, request: NewFrame): Promise<FoundFrame> {
  const stored = await listVariants(ctx.store, request);
  if (isFull(ctx, stored)) return nearestOf(stored, request);
  const rate = await ctx.frameLimits.takeRendering(request.assetId);
  return rate?.isAllowed === false ? nearestOf(stored, request) : renderInSlot(ctx, request);
}

const isFull = ({ frameLimits, settings }: ServingContext, { frames, bytes }: StoredFrames): boolean =>
  frames.length >= frameLimits.maxFrames || bytes >= settings.maxVariantBytes;

function nearestOf({ frames }: StoredFrames, { folder, frame }: NewFrame): FoundFrame {
  const nearest = findNearestFrame(frames, folder, frame);
  if (!nearest) throw busy();
  return { nearest };
}

async function renderInSlot(ctx: ServingContext, request: NewFrame): Promise<FoundFrame> {
  const release = await ctx.frameLimits.acquireSlot(request.owner, request.assetId);
  const deadline = AbortSignal.timeout(DEADLINE_MS);
  try {
    return await storeFrame(ctx, request, await render(ctx, request, deadline));
  } catch (error) {
    const isOverload = error instanceof EncodeError && ['timed_out', 'out_of_memory'].includes(error.code);
    throw deadline.aborted || isOverload ? busy() : error;
  } finally {
    release();
  }
}

async function render(ctx: ServingContext, request: NewFrame, signal: AbortSignal): Promise<Uint8Array> {
  const keyOf = (file: string) => renditionKey(request.assetId, request.folder, file);
  const source = await findSource(ctx, request);
  const scratch = { work: `frame-${randomUUID()}`, run: '1' };
  const scratchFolder = await createScratchFolder(ctx.settings.scratchRoot, scratch);
  try {
    const [excerpt, output] = [`${scratchFolder}/excerpt.mp4`, `${scratchFolder}/frame.jpg`];
    const { files, ...picture } = source;
    await writeExcerpt(ctx, files.map(keyOf), { path: excerpt, signal });
    await ctx.encoder.createExtra({ kind: 'frame', excerpt, output, signal, ...picture });
    return await readScratchFile(output);
  } finally {
    await deleteScratchFolder(scratchFolder);
  }
}

type FrameSource = {
  /** The init segment and the media segment at the time. */
  readonly files: readonly string[];
  readonly seconds: number;
  readonly frameRate: number;
  readonly width: number;
};

async function findSource(
  { manifests }: ServingContext,
  { assetId, folder, frame: { tenths, width } }: NewFrame,
): Promise<FrameSource> {
  const index = await manifests.findIndex(assetId, folder);
  if (!index) throw playbackNotFound();
  const frameRate = perSecondOf(index.frameRate);
  const tracks = listedTracks(index);
  if (!tracks.some(isVideo)) throw playbackNotFound();
  const track = getVideoForWidth(tracks, width);
  const { name, startSeconds, endSeconds } = segmentAtTime(track, tenths / 10);
  // A time after the last frame shows that frame.
  const seconds = Math.min(tenths / 10, endSeconds - 0.5 / frameRate) - startSeconds;
  return { files: [initName(track.id), name], seconds, frameRate, width };
}

async function writeExcerpt(
  { store, settings: { minFreeBytes } }: ServingContext,
  keys: readonly ObjectKey[],
  { path, signal }: { readonly path: string; readonly signal: AbortSignal },
): Promise<void> {
  const sizes = await Promise.all(keys.map((key) => store.size(key)));
  if (sizes.includes(undefined)) throw playbackNotFound();
  const sizeBytes = sizes.reduce<number>((total, size = 0) => total + size, 0);
  await writeScratchFile(() => Readable.from(readJoined(store, keys)), {
    path,
    sizeBytes,
    minFreeBytes,
    signal,
  });
}

/** Others may have been stored while it waited for its slot. */
async function storeFrame(ctx: ServingContext, request: NewFrame, bytes: Uint8Array): Promise<FoundFrame> {
  const { store } = ctx;
  const { assetId, key } = request;
  const stored = await listVariants(store, request);
  for (const outdated of stored.outdatedFrames) await store.remove(outdated);
  if (isFull(ctx, stored)) return nearestOf(stored, request);
  await storeVariant(store, key, bytes);
  const asset = await ctx.lifecycle.findAssetById(assetId);
  if (asset && !isPurged(asset)) return { key };
  await store.removeAll(variantsPrefix(assetId));
  throw playbackNotFound();
}

/**
 * `frames`: names of those of the run. `outdatedFrames`: of earlier encodes. `bytes` counts all variants.
 */
type StoredFrames = {
  readonly frames: readonly string[];
  readonly outdatedFrames: readonly ObjectKey[];
  readonly bytes: number;
};

async function listVariants(store: ObjectStore, { assetId, folder }: NewFrame): Promise<StoredFrames> {
  const [frames, outdatedFrames]: [string[], ObjectKey[]] = [[], []];
  let bytes = 0;
  for await (const { key, sizeBytes } of store.listSizes(variantsPrefix(assetId))) {
    const name = key.slice(key.lastIndexOf('/') + 1);
    bytes += sizeBytes;
    if (name.startsWith(framePrefix(folder))) frames.push(name);
    else if (isFrameName(name)) outdatedFrames.push(key);
  }
  return { frames, outdatedFrames, bytes };
}
