// Leaves work on hosted videos to a process that has the settings of their provider.
import type { Asset, ProviderName } from '../assets/asset.ts';
import { newEvent } from '../assets/asset-event.ts';
import type { JobPayloads } from '../jobs.ts';
import type { ProvidersContext } from './context.ts';
import { findLastCheckReason } from './hosted-videos.sql.ts';
import { hasWorkerFor } from './workers.ts';

type Task = JobPayloads['provider-task']['task'];

/** The reason in the timeline while no live process has the settings. */
const WAITS_FOR_SETTINGS = 'not_configured';

/** True when the asset has a video at a hosted provider whose settings this process lacks. */
export function lacksSettings({ registry }: ProvidersContext, asset: Asset): boolean {
  const provider = asset.provider === null ? undefined : registry.get(asset.provider);
  return provider?.kind === 'hosted' && !provider.api && asset.provider_video_id !== null;
}

/**
 * Queues the task for a process with the settings. True if no such process is alive, and the timeline does
 * not say so yet.
 */
export async function queueForSettings(ctx: ProvidersContext, asset: Asset, task: Task): Promise<boolean> {
  const provider = asset.provider as ProviderName;
  await ctx.db.transaction((tx) => ctx.jobs.send(tx, 'provider-task', { provider, task, assetId: asset.id }));
  return isUnexplainedWait(ctx, asset);
}

/** True if no live process has the settings, and the timeline does not say so yet. */
async function isUnexplainedWait(ctx: ProvidersContext, asset: Asset): Promise<boolean> {
  if (await hasWorkerFor(ctx, asset.provider as ProviderName)) return false;
  return (await findLastCheckReason(ctx.db, asset.id)) !== WAITS_FOR_SETTINGS;
}

/** Queues the task, and adds an event that explains the wait. */
export async function handOver(ctx: ProvidersContext, asset: Asset, task: Task): Promise<void> {
  const isNews = await queueForSettings(ctx, asset, task);
  if (isNews && !asset.deleted_at) await recordWait(ctx, asset);
}

/** Adds an event if a job of the asset waits for a process with the settings of its provider. */
export async function explainWait(ctx: ProvidersContext, asset: Asset): Promise<void> {
  if (await isUnexplainedWait(ctx, asset)) await recordWait(ctx, asset);
}

async function recordWait({ lifecycle }: ProvidersContext, asset: Asset): Promise<void> {
  const event = newEvent('asset.checked', {
    attempt: asset.attempt,
    source: 'service',
    reason: WAITS_FOR_SETTINGS,
  });
  await lifecycle.update(asset, () => ({ set: {}, events: [event], jobs: [] }));
}

/** Queues a sweep of a provider's videos, if a live process can do it; later sweeps cover a missed one. */
export async function handOverSweep(ctx: ProvidersContext): Promise<void> {
  for (const { name, kind, api } of ctx.registry.values())
    if (kind === 'hosted' && !api && (await hasWorkerFor(ctx, name)))
      await ctx.db.transaction((tx) =>
        ctx.jobs.send(tx, 'provider-task', { provider: name, task: 'remove-orphaned' }),
      );
}
