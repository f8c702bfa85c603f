// Job that creates the poster of a video from its own renditions (contract B2).
import { randomUUID } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Asset, isPurged } from '../../assets/asset.ts';
import { awaitsReport, isPosterDue } from '../../assets/poster.ts';
import type { JobPayloads } from '../../jobs.ts';
import type { JobRun } from '../../platform/jobs/job-queue.ts';
import { inScratchFolder } from '../../platform/process/scratch-folder.ts';
import { posterName, renditionKey, renditionsPrefix } from '../../storage/object-key.ts';
import { readJoined, unlessStored } from '../../storage/whole-objects.ts';
import type { EncodingContext } from '../context.ts';
import { initName } from '../model/cmaf-track.ts';
import { choosePosterSource } from '../model/thumbnail-choice.ts';
import { listedTracks } from '../packaging/run-index.ts';
import { getIndex } from '../stored-index.ts';

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
  const { id: assetId, playback, poster_time_ms: timeMs } = asset;
  if (playback?.kind === 'own' && timeMs !== null)
    await ensurePoster(ctx, { assetId, folder: playback.folder, timeMs, signal });
  await ctx.lifecycle.showPoster(asset);
}

type RequestedPoster = {
  readonly assetId: string;
  readonly folder: string;
  readonly timeMs: number;
  readonly signal: AbortSignal;
};

/** The key is derived from every input; an existing object can be reused. */
async function ensurePoster(ctx: EncodingContext, request: RequestedPoster): Promise<void> {
  const key = renditionKey(request.assetId, request.folder, posterName(request.timeMs));
  if ((await ctx.store.size(key)) !== undefined) return;
  const scratch = { work: `poster-${randomUUID()}`, run: '1' };
  await inScratchFolder(ctx.worker.scratchRoot, scratch, async (folder) => {
    const poster = await renderPoster(ctx, folder, request);
    await unlessStored(ctx.store.putFile(key, poster));
  });
}

async function renderPoster(
  ctx: EncodingContext,
  scratch: string,
  { assetId, folder, timeMs, signal }: RequestedPoster,
): Promise<string> {
  const [excerpt, output] = [join(scratch, 'excerpt.mp4'), join(scratch, 'poster.jpg')];
  const index = await getIndex(ctx, { assetId, folder });
  const { track, segment, startSeconds } = choosePosterSource(listedTracks(index), timeMs);
  const keys = [initName(track.id), segment.name].map((name) => renditionKey(assetId, folder, name));
  await writeFile(excerpt, readJoined(ctx.store, keys), { signal });
  await ctx.encoder.createPoster({ excerpt, output, startSeconds, timeMs, signal });
  return output;
}
