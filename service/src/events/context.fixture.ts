// The context of events in tests.
import { UNKNOWN_TIMES } from '../assets/asset-view.fixture.ts';
import { toSecret } from '../auth/secret.ts';
import { createHeldRequests } from '../platform/concurrency/held-requests.ts';
import { createMetrics } from '../platform/observability/metrics.ts';
import { contextOf } from '../platform/values/context.fixture.ts';
import type { EventsContext } from './context.ts';

const DAY_MS = 86_400_000;
const TIMEOUT_MS = 15_000;

export const EVENT_SETTINGS: EventsContext['settings'] = {
  webhookEndpoints: {
    maxCount: 100,
    timeoutMs: TIMEOUT_MS,
    concurrency: 8,
    totalConcurrency: 16,
    delaysMs: [60_000],
    pauseAfterMs: 5 * DAY_MS,
  },
  outboundAllowPrivate: ['webhooks'],
  webhookRetentionDays: 30,
  streamLimits: { maxStreamSeconds: 60, replayedPerMinute: 6000 },
};

/** No limits of callers, and no assets: events are sent without them. */
export const createEventsContext = (given: Parameters<typeof contextOf<EventsContext>>[0]): EventsContext =>
  contextOf<EventsContext>({
    settings: EVENT_SETTINGS,
    log: { warn: () => undefined, error: () => undefined },
    clocks: { now: () => new Date(), databaseNow: async () => new Date() },
    urlSecrets: [toSecret('test-url-signing-secret-0123456789abcdef')],
    lifecycle: { findAssetById: async () => undefined },
    view: {
      findHostedPlayback: () => undefined,
      canRetry: () => false,
      segmentEncryption: 'off',
      expectedTimes: UNKNOWN_TIMES,
    },
    callerLimits: {
      heldRequests: createHeldRequests({ total: 10, perCaller: 10 }),
      limitOwner: async () => undefined,
    },
    service: {
      metrics: createMetrics(),
      publicBaseUrl: () => 'http://127.0.0.1',
      isStopping: () => false,
    },
    ...given,
  });
