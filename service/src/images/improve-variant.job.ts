// Job that renders a large AVIF variant again, for fewer bytes than the first viewer waited for.
import type { JobPayloads } from '../jobs.ts';
import type { JobRun } from '../platform/jobs/job-queue.ts';
import type { VariantsContext } from './context.ts';
import { findVariantSource } from './image-source.ts';
import { parseVariantName } from './variants/image-variant.ts';
import { isOutdated } from './variants/variant-store.ts';
import { ensureStored } from './images.ts';

/** Viewers keep the first variant where the improved one is refused. */
export const improveVariantJob =
  (ctx: VariantsContext) =>
  async ({ payload: { assetId, file } }: JobRun<JobPayloads['improve-variant']>): Promise<void> => {
    const asset = await ctx.lifecycle.findAssetById(assetId);
    const source = asset && !asset.deleted_at ? findVariantSource(asset) : undefined;
    // The file is that of an earlier poster or focal point if the caller has changed it.
    if (!asset || !source || !file.startsWith(source.prefix) || isOutdated(file, source)) return;
    const variant = parseVariantName(file.slice(source.prefix.length));
    if (variant) await ensureStored(ctx, { asset, source }, { ...variant, animated: false });
  };
