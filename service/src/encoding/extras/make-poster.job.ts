// Job that creates the poster of a video from its own renditions (contract B2).
import { randomUUID } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Asset, isPurged } from '../../assets/asset.ts';
import { awaitsReport, isPosterDue } from '../../assets/poster.ts';
import type { JobPayloads } from '../../jobs.ts';
import type { JobRun } from '../../platform/jobs/job-queue.ts';
import { inScratchFolder } from '../../platform/process/scratch-folder.ts';
import { type ObjectKey, posterName, renditionKey, renditionsPrefix } from '../../storage/object-key.ts';
import { readJoined, readText, unlessStored } from '../../storage/whole-objects.ts';
import type { EncodingContext } from '../context.ts';
import { getExcerpt, getThumbnailPlaylist } from '../packaging/hls-reader.ts';

/** Repeats until the published poster is the requested one, which may change meanwhile. */
export const createPosterJob =
  (ctx: EncodingContext) =>
  async ({ payload, signal }: JobRun<JobPayloads['make-poster']>): Promise<void> => {
    for (;;) {
      signal.throwIfAborted();
      const asset = await ctx.lifecycle.findAssetById(payload.assetId);
      if (!asset || asset.deleted_at) return deleteLateFiles(ctx, asset);
      if (isPosterDue(asset)) await publishPoster(ctx, asset, signal);
      else if (awaitsReport(asset)) throw new Error('the report of the encoder has not arrived yet');
      else return;
    }
  };

/** Deletes a poster that was stored after the other files of a deleted asset were removed. */
async function deleteLateFiles(ctx: EncodingContext, asset: Asset | undefined): Promise<void> {
  if (asset && isPurged(asset))
    await ctx.lifecycle.removeUnlessDeferred(asset.id, renditionsPrefix(asset.id));
}

async function publishPoster(ctx: EncodingContext, asset: Asset, signal: AbortSignal): Promise<void> {
  const { id, playback, poster_time_ms: timeMs } = asset;
  if (playback?.kind === 'own' && timeMs !== null)
    await ensurePoster(ctx, { keyOf: (file) => renditionKey(id, playback.folder, file), timeMs, signal });
  await ctx.lifecycle.showPoster(asset);
}

type PosterTarget = {
  readonly keyOf: (file: string) => ObjectKey;
  readonly timeMs: number;
  readonly signal: AbortSignal;
};

/** The key is derived from every input; an existing object can be reused. */
async function ensurePoster(ctx: EncodingContext, request: PosterTarget): Promise<void> {
  const key = request.keyOf(posterName(request.timeMs));
  if ((await ctx.store.size(key)) !== undefined) return;
  const scratch = { work: `poster-${randomUUID()}`, run: '1' };
  await inScratchFolder(ctx.worker.scratchRoot, scratch, async (folder) => {
    const poster = await renderPoster(ctx, folder, request);
    await unlessStored(ctx.store.putFile(key, poster));
  });
}

async function renderPoster(
  { store, encoder }: EncodingContext,
  folder: string,
  { keyOf, timeMs, signal }: PosterTarget,
): Promise<string> {
  const [excerpt, output] = [join(folder, 'excerpt.mp4'), join(folder, 'poster.jpg')];
  const playlist = await readText(
    store,
    keyOf(getThumbnailPlaylist(await readText(store, keyOf('hls.m3u8')))),
  );
  const { init, segment, startSeconds } = getExcerpt(playlist, timeMs);
  await writeFile(excerpt, readJoined(store, [init, segment].map(keyOf)), { signal });
  await encoder.createPoster({ excerpt, output, startSeconds, timeMs, signal });
  return output;
}
