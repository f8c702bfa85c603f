// Tests that a response of the provider's API overrides webhooks and settles the attempt (contract B6).
import { describe, expect, test } from 'vitest';
import { afterReport, createReport, createVideo, NOW } from '../asset.fixture.ts';
import { decideReport } from './decide.ts';
import type { StreamReport } from './stream-report.ts';

const hosted = createVideo({ provider: 'cdnhost', provider_video_id: 'v-1', stream_status: 'processing' });
const createWebhook = (event: StreamReport['event'], overrides: Partial<StreamReport> = {}) =>
  createReport(event, { provider: 'cdnhost', ...overrides });
const createInspection = (event: StreamReport['event'], overrides: Partial<StreamReport> = {}) =>
  createWebhook(event, { source: 'inspect', ...overrides });
const broken = { failure: { code: 'not_media', message: 'no', retryable: false } };

describe('a final state from the API', () => {
  test('is applied even if the table of states forbids it', () => {
    const ready = afterReport(hosted, createWebhook('succeeded'));
    expect(afterReport(ready, createInspection('failed', broken))).toMatchObject({
      stream_status: 'failed',
      settled: true,
      failure: { code: 'not_media' },
    });
    expect(afterReport(hosted, createInspection('succeeded'))).toMatchObject({
      stream_status: 'ready',
      settled: true,
      progress: 100,
    });
  });

  test('settles the attempt: later webhooks and replays change nothing', () => {
    const settled = afterReport(hosted, createInspection('failed', broken));
    for (const source of ['webhook', 'replay'] as const) {
      expect(decideReport(settled, createWebhook('succeeded', { source }), NOW)).toEqual({
        processed: false,
        reason: 'late',
      });
      expect(decideReport(settled, createWebhook('started', { source, progress: 40 }), NOW)).toEqual({
        processed: false,
        reason: 'late',
      });
      expect(decideReport(settled, createWebhook('failed', { source }), NOW)).toEqual({
        processed: true,
        reason: 'repeat',
      });
    }
  });

  test('is replaced by the next one, and by a new attempt', () => {
    const settled = afterReport(hosted, createInspection('failed', broken));
    expect(afterReport(settled, createInspection('succeeded'))).toMatchObject({
      stream_status: 'ready',
      settled: true,
      failure: null,
    });
    expect(afterReport(settled, createWebhook('started', { attempt: 2 }))).toMatchObject({
      stream_status: 'processing',
      attempt: 2,
      settled: false,
    });
  });

  test('does not settle the attempt while processing, or while renditions are missing', () => {
    expect(afterReport(hosted, createInspection('started', { progress: 30 }))).toMatchObject({
      stream_status: 'processing',
      progress: 30,
      settled: false,
    });
    expect(afterReport(hosted, createInspection('succeeded', { complete: false }))).toMatchObject({
      stream_status: 'ready',
      settled: false,
    });
  });

  test('removes the warning of a failure after ready', () => {
    const warned = afterReport(afterReport(hosted, createWebhook('succeeded')), createWebhook('failed'));
    expect(warned.warnings).toHaveLength(1);
    expect(afterReport(warned, createInspection('succeeded'))).toMatchObject({
      stream_status: 'ready',
      settled: true,
      warnings: [],
      reconcile_at: null,
    });
  });

  test("records its source and the provider's own code", () => {
    const { change } = decideReport(
      hosted,
      createInspection('failed', { ...broken, providerCode: 'ERR_NON_VIDEO' }),
      NOW,
    );
    expect(change?.events).toMatchObject([
      {
        type: 'asset.failed',
        data: { source: 'inspect', code: 'not_media', provider_code: 'ERR_NON_VIDEO' },
      },
    ]);
  });
});

describe('the time of the next check', () => {
  const inMinutes = (minutes: number) => new Date(NOW.getTime() + minutes * 60_000);
  const started = afterReport(
    createVideo({ provider: 'edgehost', provider_video_id: 'v-2' }),
    createWebhook('started', { provider: 'edgehost' }),
  );

  test('is soon after processing starts, and is part of the event', () => {
    expect(started.reconcile_at).toEqual(inMinutes(2));
    expect(
      decideReport(createVideo(), createWebhook('started', { provider: 'onprem' }), NOW).change?.events[0]
        ?.data,
    ).toMatchObject({ next_check_at: inMinutes(2).toISOString() });
  });

  test('is set after a failure at a hosted provider, not after one of our encoder', () => {
    expect(afterReport(hosted, createWebhook('failed')).reconcile_at).toEqual(inMinutes(30));
    expect(
      afterReport(
        createVideo({ stream_status: 'processing' }),
        createWebhook('failed', { provider: 'onprem' }),
      ).reconcile_at,
    ).toBeNull();
  });

  test('is immediate after a failure that follows ready', () => {
    const facts = { size_bytes: 1, width: 1, height: 1, duration_ms: 1 };
    const ready = afterReport({ ...hosted, ...facts }, createWebhook('succeeded'));
    expect(ready.reconcile_at).toBeNull();
    expect(afterReport(ready, createWebhook('failed'))).toMatchObject({
      stream_status: 'ready',
      reconcile_at: NOW,
      warnings: [{ code: 'encoding_incomplete' }],
    });
  });

  test('stays after a report that does not change the status', () => {
    expect(
      afterReport(started, createWebhook('started', { provider: 'edgehost', progress: 10 }), inMinutes(1))
        .reconcile_at,
    ).toEqual(inMinutes(2));
  });
});
