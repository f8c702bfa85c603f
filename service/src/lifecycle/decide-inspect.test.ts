// What the provider itself says when it is asked counts more than any webhook, and ends the attempt (contract B6).
import { describe, expect, test } from 'vitest';
import { afterReport, NOW, createVideo } from './asset.fixture.ts';
import { decideReport } from './decide.ts';
import type { StreamReport } from './stream-report.ts';

const hosted = createVideo({ provider: 'cdnhost', provider_video_id: 'v-1', stream_status: 'processing' });
const say = (event: StreamReport['event'], more: Partial<StreamReport> = {}): StreamReport => ({
  source: 'webhook',
  provider: 'cdnhost',
  event,
  ...more,
});
const asked = (event: StreamReport['event'], more: Partial<StreamReport> = {}) =>
  say(event, { source: 'inspect', ...more });
const broken = { failure: { code: 'not_media', message: 'no', retryable: false } };

describe('a last word learned by asking', () => {
  test('is taken as it is, also where the table would not move', () => {
    const ready = afterReport(hosted, say('succeeded'));
    expect(afterReport(ready, asked('failed', broken))).toMatchObject({
      stream_status: 'failed',
      settled: true,
      failure: { code: 'not_media' },
    });
    expect(afterReport(hosted, asked('succeeded'))).toMatchObject({
      stream_status: 'ready',
      settled: true,
      progress: 100,
    });
  });

  test('closes the attempt: later webhooks and replays change nothing', () => {
    const closed = afterReport(hosted, asked('failed', broken));
    for (const source of ['webhook', 'replay'] as const) {
      expect(decideReport(closed, say('succeeded', { source }), NOW)).toEqual({
        processed: false,
        reason: 'late',
      });
      expect(decideReport(closed, say('started', { source, progress: 40 }), NOW)).toEqual({
        processed: false,
        reason: 'late',
      });
      expect(decideReport(closed, say('failed', { source }), NOW)).toEqual({
        processed: true,
        reason: 'repeat',
      });
    }
  });

  test('gives way to the next one, and to a new attempt', () => {
    const closed = afterReport(hosted, asked('failed', broken));
    expect(afterReport(closed, asked('succeeded'))).toMatchObject({
      stream_status: 'ready',
      settled: true,
      failure: null,
    });
    expect(afterReport(closed, say('started', { attempt: 2 }))).toMatchObject({
      stream_status: 'processing',
      attempt: 2,
      settled: false,
    });
  });

  test('is none while work goes on, or while more rungs are coming', () => {
    expect(afterReport(hosted, asked('started', { progress: 30 }))).toMatchObject({
      stream_status: 'processing',
      progress: 30,
      settled: false,
    });
    expect(afterReport(hosted, asked('succeeded', { complete: false }))).toMatchObject({
      stream_status: 'ready',
      settled: false,
    });
  });

  test('takes back the doubt that a failure after ready had left', () => {
    const doubted = afterReport(afterReport(hosted, say('succeeded')), say('failed'));
    expect(doubted.warnings).toHaveLength(1);
    expect(afterReport(doubted, asked('succeeded'))).toMatchObject({
      stream_status: 'ready',
      settled: true,
      warnings: [],
      reconcile_at: null,
    });
  });

  test("tells the timeline who said it, with the provider's own code", () => {
    const { change } = decideReport(
      hosted,
      asked('failed', { ...broken, providerCode: 'ERR_NON_VIDEO' }),
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

describe('what is waited for has a time at which somebody looks', () => {
  const inMinutes = (minutes: number) => new Date(NOW.getTime() + minutes * 60_000);
  const started = afterReport(
    createVideo({ provider: 'edgehost', provider_video_id: 'v-2' }),
    say('started', { provider: 'edgehost' }),
  );

  test('work under way is looked at soon, and the timeline says when', () => {
    expect(started.reconcile_at).toEqual(inMinutes(2));
    expect(
      decideReport(createVideo(), say('started', { provider: 'onprem' }), NOW).change?.events[0]?.data,
    ).toMatchObject({ next_check_at: inMinutes(2).toISOString() });
  });

  test('a hosted video that failed by report is asked about, one of our own encoder is not', () => {
    expect(afterReport(hosted, say('failed')).reconcile_at).toEqual(inMinutes(30));
    expect(
      afterReport(createVideo({ stream_status: 'processing' }), say('failed', { provider: 'onprem' }))
        .reconcile_at,
    ).toBeNull();
  });

  test('a failure after ready is asked about at once', () => {
    const ready = afterReport(hosted, say('succeeded'));
    expect(ready.reconcile_at).toBeNull();
    expect(afterReport(ready, say('failed'))).toMatchObject({
      stream_status: 'ready',
      reconcile_at: NOW,
      warnings: [{ code: 'encoding_incomplete' }],
    });
  });

  test('a report that moves nothing moves that time neither', () => {
    expect(
      afterReport(started, say('started', { provider: 'edgehost', progress: 10 }), inMinutes(1)).reconcile_at,
    ).toEqual(inMinutes(2));
  });
});
