// Tests the completion of an upload to a hosted provider while another request retries the asset (B4).
import { describe, expect, test } from 'vitest';
import type { Asset } from '../assets/asset.ts';
import { createVideo, NOW } from '../lifecycle/asset.fixture.ts';
import { createLifecycleContext } from '../lifecycle/context.fixture.ts';
import { openMemoryStore } from '../lifecycle/memory-store.fixture.ts';
import { applyReport, completeAsset } from '../lifecycle/reports.ts';
import type { StreamReport } from '../lifecycle/decisions/stream-report.ts';
import { createProvidersContext } from '../providers/context.fixture.ts';
import { applyInspection } from '../providers/hosted-videos.ts';
import { completeUpload } from './completion.ts';

type CompletionNeeds = Parameters<typeof completeUpload>[0];

const first = createVideo({ provider: 'cdnhost', provider_video_id: 'guid-1', upload_expires_at: NOW });

/** Completes the upload of the first attempt. `stored` is the asset when the provider has answered. */
async function completeFirst(stored: Asset, event: StreamReport['event']) {
  const { update, decisions } = openMemoryStore(stored, NOW);
  const db = { one: async () => undefined, all: async () => [] };
  const reports = createLifecycleContext({ db, assets: { update } });
  const findAssetById = async () => ({ ...stored, ...decisions.at(-1)?.set });
  const needs = {
    db,
    findAssetById,
    isHosted: () => true,
    inspectNow: async () => ({ state: 'known', report: { source: 'inspect', provider: 'cdnhost', event } }),
    completeAsset: (asset, completion) => completeAsset(reports, asset, completion),
    applyInspection: (asset, report) =>
      applyInspection(
        createProvidersContext({
          lifecycle: { findAssetById, applyReport: (report, cause) => applyReport(reports, report, cause) },
        }),
        asset,
        report,
      ),
  } as Partial<CompletionNeeds> as CompletionNeeds;
  const completed = await completeUpload(needs, first, {}).catch((error: unknown) => error);
  return { completed, decisions };
}

describe('the completion of an upload to a hosted provider', () => {
  test('starts processing', async () => {
    const { completed } = await completeFirst(first, 'started');
    expect(completed).toMatchObject({ stream_status: 'processing', attempt: 1 });
  });

  test.each(['started', 'succeeded', 'failed'] as const)(
    'changes nothing if a retry opened another upload while the provider said %s of the first video',
    async (event) => {
      const second = { ...first, attempt: 2, provider_video_id: 'guid-2' };
      const { completed, decisions } = await completeFirst(second, event);
      expect(completed).toMatchObject({ code: 'BAD_REQUEST', details: { reason: 'not_uploaded' } });
      expect(decisions.flatMap(({ events }) => events)).toEqual([]);
    },
  );
});
