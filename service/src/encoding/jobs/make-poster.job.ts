// Has the thumbnail of a finished video show the picture that its owner wants, taken from its own renditions (contract B2).
import { randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Asset } from '../../assets/asset.ts';
import { awaitsReport, isPosterDue } from '../../assets/poster.ts';
import type { JobPayloads } from '../../jobs.ts';
import type { JobRun } from '../../platform/job-queue.ts';
import { createScratchFolder, deleteScratchFolder } from '../../platform/process/scratch-folder.ts';
import { type ObjectKey, posterName, renditionKey, renditionsPrefix } from '../../storage/object-key.ts';
import { ObjectRefused, type ObjectStore } from '../../storage/object-store.ts';
import type { Encoder } from '../encoder.ts';
import { findExcerptFiles, findThumbnailPlaylist } from '../packaging/hls-parser.ts';

export type PosterNeeds = {
  readonly findAssetById: (id: string) => Promise<Asset | undefined>;
  readonly showPoster: (made: Asset) => Promise<Asset>;
  readonly store: ObjectStore;
  readonly encoder: Encoder;
  readonly scratchRoot: string;
};

const MAX_FILE = 64 * 1024 ** 2;

/** Goes on until what is shown is what is wanted, however often that changes meanwhile. */
export const makePosterJob =
  (needs: PosterNeeds) =>
  async ({ payload, signal }: JobRun<JobPayloads['make-poster']>): Promise<void> => {
    for (;;) {
      signal.throwIfAborted();
      const asset = await needs.findAssetById(payload.assetId);
      if (!asset || asset.deleted_at) return forget(needs, asset);
      if (isPosterDue(asset)) await show(needs, asset, signal);
      else if (awaitsReport(asset)) throw new Error('the report of what was encoded is still on its way');
      else return;
    }
  };

/** A picture that was stored when all else of the asset was gone already goes too. */
async function forget({ store }: PosterNeeds, asset: Asset | undefined): Promise<void> {
  if (asset && !asset.purge_at) await store.removeAll(renditionsPrefix(asset.id));
}

async function show(needs: PosterNeeds, asset: Asset, signal: AbortSignal): Promise<void> {
  const { id, playback, poster_time_ms: timeMs } = asset;
  if (playback?.kind === 'own' && timeMs !== null)
    await make(needs, { keyOf: (file) => renditionKey(id, playback.folder, file), timeMs, signal });
  await needs.showPoster(asset);
}

type Making = {
  readonly keyOf: (file: string) => ObjectKey;
  readonly timeMs: number;
  readonly signal: AbortSignal;
};

/** Its name says all that it depends on: one that is there is the right one. */
async function make(needs: PosterNeeds, making: Making): Promise<void> {
  const key = making.keyOf(posterName(making.timeMs));
  if ((await needs.store.size(key)) !== undefined) return;
  const scratch = await createScratchFolder(needs.scratchRoot, { work: `poster-${randomUUID()}`, run: '1' });
  try {
    await keep(needs.store, key, await makeIn(scratch, needs, making));
  } finally {
    await deleteScratchFolder(scratch);
  }
}

async function makeIn(
  scratch: string,
  { store, encoder }: PosterNeeds,
  { keyOf, timeMs, signal }: Making,
): Promise<string> {
  const [excerpt, picture] = [join(scratch, 'excerpt.mp4'), join(scratch, 'poster.jpg')];
  const playlist = await textOf(store, keyOf(findThumbnailPlaylist(await textOf(store, keyOf('hls.m3u8')))));
  await writeFile(excerpt, bytesOf(store, findExcerptFiles(playlist, timeMs).map(keyOf)), { signal });
  await encoder.makePoster({ excerpt, picture, timeMs, signal });
  return picture;
}

const textOf = async (store: ObjectStore, key: ObjectKey): Promise<string> =>
  Buffer.concat(await store.stream(key).toArray()).toString();

async function* bytesOf(store: ObjectStore, keys: readonly ObjectKey[]): AsyncGenerator<Uint8Array> {
  for (const key of keys) yield* store.stream(key);
}

/** Whoever was faster made the same. */
async function keep(store: ObjectStore, key: ObjectKey, picture: string): Promise<void> {
  try {
    await store.put(key, createReadStream(picture), MAX_FILE);
  } catch (error) {
    if (!(error instanceof ObjectRefused && error.reason === 'exists')) throw error;
  }
}
