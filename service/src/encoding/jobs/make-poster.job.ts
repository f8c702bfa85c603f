// Job that creates the poster of a video from its own renditions (contract B2).
import { randomUUID } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Asset, isPurged } from '../../assets/asset.ts';
import type * as lookupOperations from '../../assets/asset-lookup.ts';
import { awaitsReport, isPosterDue } from '../../assets/poster.ts';
import type { JobPayloads } from '../../jobs.ts';
import type { removeUnlessDeferred } from '../../lifecycle/deferred-removals.ts';
import type * as reportOperations from '../../lifecycle/reports.ts';
import type { Bound, BoundOperations } from '../../platform/bind.ts';
import type { JobRun } from '../../platform/jobs/job-queue.ts';
import { createScratchFolder, deleteScratchFolder } from '../../platform/process/scratch-folder.ts';
import { type ObjectKey, posterName, renditionKey, renditionsPrefix } from '../../storage/object-key.ts';
import type { ObjectStore } from '../../storage/object-store.ts';
import { readJoined, readText, unlessStored } from '../../storage/whole-objects.ts';
import type { Encoder } from '../encoder.ts';
import { getExcerpt, getThumbnailPlaylist } from '../packaging/hls-reader.ts';

export type PosterNeeds = Pick<BoundOperations<typeof lookupOperations>, 'findAssetById'> &
  Pick<BoundOperations<typeof reportOperations>, 'showPoster'> & {
    readonly store: ObjectStore;
    readonly removeUnlessDeferred: Bound<typeof removeUnlessDeferred>;
    readonly encoder: Pick<Encoder, 'createPoster'>;
    readonly scratchRoot: string;
  };

/** Repeats until the published poster is the requested one, which may change meanwhile. */
export const createPosterJob =
  (needs: PosterNeeds) =>
  async ({ payload, signal }: JobRun<JobPayloads['make-poster']>): Promise<void> => {
    for (;;) {
      signal.throwIfAborted();
      const asset = await needs.findAssetById(payload.assetId);
      if (!asset || asset.deleted_at) return deleteLateFiles(needs, asset);
      if (isPosterDue(asset)) await publishPoster(needs, asset, signal);
      else if (awaitsReport(asset)) throw new Error('the report of the encoder has not arrived yet');
      else return;
    }
  };

/** Deletes a poster that was stored after the other files of a deleted asset were removed. */
async function deleteLateFiles(needs: PosterNeeds, asset: Asset | undefined): Promise<void> {
  if (asset && isPurged(asset)) await needs.removeUnlessDeferred(asset.id, renditionsPrefix(asset.id));
}

async function publishPoster(needs: PosterNeeds, asset: Asset, signal: AbortSignal): Promise<void> {
  const { id, playback, poster_time_ms: timeMs } = asset;
  if (playback?.kind === 'own' && timeMs !== null)
    await ensurePoster(needs, { keyOf: (file) => renditionKey(id, playback.folder, file), timeMs, signal });
  await needs.showPoster(asset);
}

type PosterTarget = {
  readonly keyOf: (file: string) => ObjectKey;
  readonly timeMs: number;
  readonly signal: AbortSignal;
};

/** The key is derived from every input; an existing object can be reused. */
async function ensurePoster(needs: PosterNeeds, request: PosterTarget): Promise<void> {
  const key = request.keyOf(posterName(request.timeMs));
  if ((await needs.store.size(key)) !== undefined) return;
  const scratch = await createScratchFolder(needs.scratchRoot, { work: `poster-${randomUUID()}`, run: '1' });
  try {
    const poster = await renderPoster(scratch, needs, request);
    await unlessStored(needs.store.putFile(key, poster));
  } finally {
    await deleteScratchFolder(scratch);
  }
}

async function renderPoster(
  scratch: string,
  { store, encoder }: PosterNeeds,
  { keyOf, timeMs, signal }: PosterTarget,
): Promise<string> {
  const [excerpt, output] = [join(scratch, 'excerpt.mp4'), join(scratch, 'poster.jpg')];
  const playlist = await readText(
    store,
    keyOf(getThumbnailPlaylist(await readText(store, keyOf('hls.m3u8')))),
  );
  const { init, segment, startSeconds } = getExcerpt(playlist, timeMs);
  await writeFile(excerpt, readJoined(store, [init, segment].map(keyOf)), { signal });
  await encoder.createPoster({ excerpt, output, startSeconds, timeMs, signal });
  return output;
}
