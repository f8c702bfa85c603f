// Counts what becomes of assets, and how long they take.
import type { Asset } from '../assets/asset.ts';
import { LONG_DURATIONS } from '../platform/observability/metrics.ts';
import type { LifecycleContext } from './context.ts';
import type { PendingWrite } from './decisions/change.ts';

const MILESTONES = {
  name: 'mediary_asset_milestones_total',
  help: 'Assets that became playable or ready, or failed, by kind and provider; images have none.',
  labels: ['milestone', 'kind', 'provider'],
} as const;

const TIME_TO_PLAYABLE = {
  name: 'mediary_asset_time_to_playable_seconds',
  help: 'Time from the end of an upload until a video is playable or an image is ready; without retries.',
  labels: ['kind', 'provider'],
  buckets: LONG_DURATIONS,
} as const;

const CHECKS = {
  name: 'mediary_reconcile_checks_total',
  help: 'Checks by the reconcile job by their result; repaired, job_lost and encoder_silent are repairs.',
  labels: ['provider', 'reason'],
} as const;

const MILESTONE_OF: Readonly<Record<string, string>> = {
  'asset.playable': 'playable',
  'asset.ready': 'ready',
  'asset.failed': 'failed',
};

/** Called after the commit of a change. */
export function countAssetChange(
  { metrics }: Pick<LifecycleContext, 'metrics'>,
  asset: Asset,
  { decision, now }: Pick<PendingWrite, 'decision' | 'now'>,
): void {
  const { kind } = asset;
  const provider = asset.provider ?? 'none';
  const end = kind === 'image' ? 'ready' : 'playable';
  for (const { type, data } of decision.events) {
    const milestone = MILESTONE_OF[type];
    if (type === 'asset.checked')
      metrics.count(CHECKS, { provider, reason: String(data['reason'] ?? 'none') });
    if (milestone === undefined) continue;
    metrics.count(MILESTONES, { milestone, kind, provider });
    if (milestone !== end || asset.attempt > 1) continue;
    const from = asset.uploaded_at ?? asset.created_at;
    metrics.observe(TIME_TO_PLAYABLE, { kind, provider }, (now.getTime() - from.getTime()) / 1000);
  }
}
