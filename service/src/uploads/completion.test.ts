// Tests completions that cannot succeed: without bytes, and while another request retries the asset (B4).
import { describe, expect, test } from 'vitest';
import type { Asset } from '../assets/asset.ts';
import { createVideo, NOW } from '../lifecycle/asset.fixture.ts';
import { createLifecycleContext } from '../lifecycle/context.fixture.ts';
import type { StreamReport } from '../lifecycle/decisions/stream-report.ts';
import { applyReport } from '../lifecycle/reports.ts';
import { createProvidersContext } from '../providers/context.fixture.ts';
import { applyInspection } from '../providers/hosted-videos.ts';
import { completeUpload } from './completion.ts';
import { createUploadsWorld } from './context.fixture.ts';

const first = createVideo({ provider: 'cdnhost', provider_video_id: 'guid-1', upload_expires_at: NOW });

/** Completes the upload of the first attempt. `stored` is the asset when the provider has answered. */
async function completeFirst(stored: Asset, event: StreamReport['event']) {
  const world = createUploadsWorld(stored);
  const { lifecycle } = world.ctx;
  const reports = createLifecycleContext({ assets: { update: lifecycle.update } });
  const providers = createProvidersContext({
    lifecycle: {
      findAssetById: lifecycle.findAssetById,
      applyReport: (report, cause) => applyReport(reports, report, cause),
    },
  });
  const ctx = {
    ...world.ctx,
    providers: {
      ...world.ctx.providers,
      inspectNow: async () =>
        ({ state: 'known', report: { source: 'inspect', provider: 'cdnhost', event } }) as const,
      applyInspection: (asset: Asset, report: StreamReport) => applyInspection(providers, asset, report),
    },
  };
  const completed = await completeUpload(ctx, first, {}).catch((error: unknown) => error);
  return { completed, decisions: world.decisions };
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

const CLIP_OF = { id: '01900000-0000-7000-8000-00000000000a', start_ms: 0, end_ms: 1000 };

test.each<[string, { asset?: Partial<Asset>; rows?: Record<string, object>; action: string }]>([
  ['a clip', { asset: { clip_of: CLIP_OF }, action: 'The service gets them' }],
  ['an import', { rows: { 'find import': { asset_id: first.id } }, action: 'The service gets them' }],
  ['an upload', { action: 'Send them to the upload URL' }],
])('the completion of %s without bytes says who gets them', async (_case, { asset, rows, action }) => {
  const waiting = createVideo(asset);
  const { ctx } = createUploadsWorld(waiting, rows);
  await expect(completeUpload(ctx, waiting, {})).rejects.toMatchObject({
    message: expect.stringContaining(action),
    details: { reason: 'not_uploaded' },
  });
});
