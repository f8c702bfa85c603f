// Leaves work on hosted videos to a process that has the settings of their provider.
import type { Asset, ProviderName } from '../assets/asset.ts';
import { newEvent } from '../assets/asset-event.ts';
import type { JobPayloads, ServiceJobs } from '../jobs.ts';
import type { AssetStore } from '../lifecycle/store.ts';
import type { Bound } from '../platform/bind.ts';
import type { Database } from '../platform/postgres/database.ts';
import { findLastCheckReason } from './handover.sql.ts';
import type { Providers } from './provider.ts';
import type { hasWorkerFor } from './workers.ts';

type HandoverNeeds = {
  readonly db: Database;
  readonly jobs: Pick<ServiceJobs, 'send'>;
  readonly providers: Providers;
  readonly update: AssetStore['update'];
  readonly hasWorkerFor: Bound<typeof hasWorkerFor>;
};

type Task = JobPayloads['provider-task']['task'];

/** The reason in the timeline while no live process has the settings. */
const WAITS_FOR_SETTINGS = 'not_configured';

/** True when the asset has a video at a hosted provider whose settings this process lacks. */
export function lacksSettings({ providers }: Pick<HandoverNeeds, 'providers'>, asset: Asset): boolean {
  const provider = asset.provider === null ? undefined : providers.get(asset.provider);
  return provider?.kind === 'hosted' && !provider.api && asset.provider_video_id !== null;
}

/**
 * Queues the task for a process with the settings; it waits until there is one. Returns true if none is alive
 * now and the timeline does not say so yet.
 */
export async function queueForSettings(needs: HandoverNeeds, asset: Asset, task: Task): Promise<boolean> {
  const { db, jobs } = needs;
  const lane = asset.provider as ProviderName;
  await db.transaction((tx) => jobs.send(tx, 'provider-task', { lane, task, assetId: asset.id }));
  return isUnexplainedWait(needs, asset);
}

/** True if no live process has the settings, and the timeline does not say so yet. */
async function isUnexplainedWait({ db, hasWorkerFor: hasWorker }: HandoverNeeds, asset: Asset) {
  if (await hasWorker(asset.provider as ProviderName)) return false;
  return (await findLastCheckReason(db, asset.id)) !== WAITS_FOR_SETTINGS;
}

/** Queues the task, and adds an event that explains the wait. */
export async function handOver(needs: HandoverNeeds, asset: Asset, task: Task): Promise<void> {
  const isNews = await queueForSettings(needs, asset, task);
  if (isNews && !asset.deleted_at) await recordWait(needs, asset);
}

/** Adds an event if a job of the asset waits for a process with the settings of its provider. */
export async function explainWait(needs: HandoverNeeds, asset: Asset): Promise<void> {
  if (await isUnexplainedWait(needs, asset)) await recordWait(needs, asset);
}

async function recordWait(needs: HandoverNeeds, asset: Asset): Promise<void> {
  const event = newEvent('asset.checked', {
    attempt: asset.attempt,
    source: 'service',
    reason: WAITS_FOR_SETTINGS,
  });
  await needs.update(asset, () => ({ set: {}, events: [event], jobs: [] }));
}

/** Queues a sweep of a provider's videos, if a live process can do it; later sweeps cover a missed one. */
export async function handOverSweep(needs: HandoverNeeds): Promise<void> {
  const { db, jobs, providers } = needs;
  for (const { name, kind, api } of providers.values())
    if (kind === 'hosted' && !api && (await needs.hasWorkerFor(name)))
      await db.transaction((tx) => jobs.send(tx, 'provider-task', { lane: name, task: 'remove-orphaned' }));
}
