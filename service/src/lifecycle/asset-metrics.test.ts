// Counts of milestones and of checks by the reconcile job.
import { expect, test } from 'vitest';
import { newEvent } from '../assets/asset-event.ts';
import { createMetrics } from '../platform/observability/metrics.ts';
import { createVideo, NOW } from './asset.fixture.ts';
import { countAssetChange } from './asset-metrics.ts';

const UPLOADED = new Date(NOW.getTime() - 42_000);

async function linesAfter(
  asset: Parameters<typeof createVideo>[0],
  ...events: readonly Parameters<typeof newEvent>[]
): Promise<string[]> {
  const metrics = createMetrics();
  const changed = createVideo({ uploaded_at: UPLOADED, ...asset });
  const decision = { set: {}, events: events.map((event) => newEvent(...event)), jobs: [] };
  countAssetChange({ metrics }, changed, { decision, now: NOW });
  const lines = (await metrics.render()).split('\n');
  return lines.filter((line) => line !== '' && !/^#|_bucket/.test(line));
}

test('a playable video has the time since its upload', async () => {
  expect(await linesAfter({}, ['asset.playable'])).toEqual([
    'mediary_asset_milestones_total{milestone="playable",kind="video",provider="onprem"} 1',
    'mediary_asset_time_to_playable_seconds_sum{kind="video",provider="onprem"} 42',
    'mediary_asset_time_to_playable_seconds_count{kind="video",provider="onprem"} 1',
  ]);
});

test('an image is playable when it is ready', async () => {
  expect(await linesAfter({ kind: 'image', provider: null }, ['asset.ready'])).toEqual([
    'mediary_asset_milestones_total{milestone="ready",kind="image",provider="none"} 1',
    'mediary_asset_time_to_playable_seconds_sum{kind="image",provider="none"} 42',
    'mediary_asset_time_to_playable_seconds_count{kind="image",provider="none"} 1',
  ]);
});

test('a retry has no time, because its bytes came before it', async () => {
  expect(await linesAfter({ attempt: 2 }, ['asset.playable'])).toEqual([
    'mediary_asset_milestones_total{milestone="playable",kind="video",provider="onprem"} 1',
  ]);
});

test('checks by the reconcile job are counted by their reason', async () => {
  const repaired = { provider: 'cdnhost' } as const;
  expect(
    await linesAfter(
      repaired,
      ['asset.failed'],
      ['asset.checked', { reason: 'repaired' }],
      ['asset.updated'],
    ),
  ).toEqual([
    'mediary_asset_milestones_total{milestone="failed",kind="video",provider="cdnhost"} 1',
    'mediary_reconcile_checks_total{provider="cdnhost",reason="repaired"} 1',
  ]);
});
