// Job that gives the file of a replacement to its asset: copies the objects, then changes both rows at once.
import { type Asset, isPurged } from '../../assets/asset.ts';
import type { JobPayloads } from '../../jobs.ts';
import { removalOf } from '../../lifecycle/decisions/deletion.ts';
import type { JobRun } from '../../platform/jobs/job-queue.ts';
import type { LibraryContext } from '../context.ts';
import { decideEnd, decideOvertaken, decideTakeover } from './decide-versions.ts';
import { toReplacing } from './versions.ts';

export const takeOverJob =
  (ctx: LibraryContext) =>
  async ({ payload, signal }: JobRun<JobPayloads['take-over']>): Promise<void> => {
    for (;;) {
      signal.throwIfAborted();
      const replacement = await ctx.lifecycle.findAssetById(payload.assetId);
      if (!replacement) return;
      if (!isDue(replacement)) return removeCopies(ctx, replacement);
      const asset = await ctx.lifecycle.findAssetById(replacement.version_of);
      // The hourly job comes back to what a hold keeps.
      if (asset?.legal_hold || replacement.legal_hold) return;
      if (!asset || isPurged(asset)) {
        await endReplacement(ctx, replacement);
        continue;
      }
      if (asset.attempt >= replacement.attempt) return refuse(ctx, replacement, asset);
      await ctx.lifecycle.copyFile(replacement, { assetId: asset.id, signal });
      if (await takeOver(ctx, asset, replacement)) return;
    }
  };

type Replacement = Asset & { readonly version_of: string };

const isDue = (asset: Asset): asset is Replacement =>
  asset.version_of !== null && asset.stream_status === 'ready' && asset.deleted_at === null;

/** False if one of the two has changed since it was read: the replacement may have other captions now. */
function takeOver(ctx: LibraryContext, asset: Asset, replacement: Asset): Promise<boolean> {
  const now = ctx.clocks.now();
  return ctx.lifecycle.assetStore.updateTogether([
    { seen: asset, decision: decideTakeover(asset, replacement, toReplacing(ctx, asset, now)) },
    { seen: replacement, decision: decideEnd(replacement, { reason: 'took_over', now }) },
  ]);
}

async function endReplacement({ lifecycle }: LibraryContext, { id }: Asset): Promise<void> {
  await lifecycle.update({ assetId: id }, (seen, now) =>
    seen.deleted_at ? undefined : decideEnd(seen, { reason: 'replaced_asset_deleted', now }),
  );
}

/** The job that purged the asset may have ended before the last copy. */
async function removeCopies({ lifecycle }: LibraryContext, replacement: Asset): Promise<void> {
  const { version_of: assetId, deleted_at: deletedAt } = replacement;
  if (assetId === null || deletedAt === null) return;
  const updated = await lifecycle.update({ assetId }, (seen) =>
    isPurged(seen) ? { set: {}, events: [], jobs: [removalOf(seen)] } : undefined,
  );
  // From this attempt on, the files may be those of the asset itself.
  if (updated && !isPurged(updated.asset) && updated.asset.attempt < replacement.attempt)
    await lifecycle.removeFileCopies(replacement, updated.asset);
}

async function refuse({ lifecycle }: LibraryContext, replacement: Asset, asset: Asset): Promise<void> {
  await lifecycle.update(replacement, (seen) =>
    isDue(seen) && seen.attempt === replacement.attempt ? decideOvertaken(seen, asset) : undefined,
  );
}
