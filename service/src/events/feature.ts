// Events: the timeline of an asset, live events, and outbound webhooks (contract B2, B8).
import type { AppContext } from '../app-context.ts';
import type { Guards } from '../assets/asset-guards.hook.ts';
import type { AssetViewContext } from '../assets/asset-view.ts';
import type { Lifecycle } from '../lifecycle/feature.ts';
import type { createEventTicket } from '../auth/event-tickets.ts';
import { type Bound, bind } from '../platform/bind.ts';
import { createBatcher } from '../platform/concurrency/batcher.ts';
import { createConcurrencyLimit } from '../platform/concurrency/concurrency-limit.ts';
import { createSingleFlight } from '../platform/concurrency/single-flight.ts';
import type { HeldRequests } from '../platform/concurrency/held-requests.ts';
import { createConnectionPool } from '../platform/outbound/connection-pool.ts';
import { createGuardedFetch } from '../platform/outbound/guarded-fetch.ts';
import { resolveBySystem } from '../platform/outbound/resolve-host.ts';
import * as attemptOperations from './endpoints/delivery-attempts.ts';
import { type DeliverySender, startDeliverySender } from './endpoints/delivery-sender.ts';
import * as deliveryOperations from './endpoints/endpoint-deliveries.ts';
import { fanOut } from './endpoints/fan-out.ts';
import type { CompletedAttempt } from './endpoints/retry-plan.ts';
import * as endpointOperations from './endpoints/webhook-endpoints.ts';
import { type CallerOf, endpointRoutes } from './endpoints/webhook-endpoints.routes.ts';
import { createAssetRenderer } from './event-renderer.ts';
import { createReplays } from './event-replays.ts';
import { createEventStreams, preparePositions } from './event-streams.ts';
import { eventRoutes } from './events.routes.ts';
import { listTimeline } from './timeline.ts';

type Needs = AppContext & {
  readonly lifecycle: Lifecycle;
  readonly guards: Guards;
  readonly view: AssetViewContext;
  readonly heldRequests: HeldRequests;
  readonly limitOwner: (ownerUserId: string) => Promise<void>;
  readonly callerOf: CallerOf;
  readonly createEventTicket: Bound<typeof createEventTicket>;
};

export type Events = ReturnType<typeof createEvents>['operations'];

export function createEvents(context: Needs) {
  const { findAssetById } = context.lifecycle;
  const { maxStreamSeconds, replayedPerMinute } = context.config.streamLimits;
  const { openStream, endStreams } = createEventStreams({
    ...context,
    findAssetById,
    maxStreamSeconds,
    renderAsset: createAssetRenderer(context.view),
    replays: createReplays({ replayedPerMinute, limitOwner: context.limitOwner }),
  });
  const endpoints = createEndpoints(context);
  return {
    operations: {
      endStreams,
      preparePositions: () => preparePositions(context),
      startDeliverySender: endpoints.startSender,
      deleteOldEndpointDeliveries: endpoints.deleteOldDeliveries,
    },
    routes: [
      ...eventRoutes({ ...context, ...bind(context, { listTimeline }), openStream }, context.guards),
      ...endpoints.routes,
    ],
    jobs: {},
  };
}

/** Attempts that complete while a transaction stores others share the next one. */
const RECORDING = { concurrency: 1, maxItems: 50 };
const TESTS = { total: 16, perKey: 2 };

function createEndpoints(context: Needs) {
  const { config } = context;
  const { delaysMs, ...settings } = config.webhookEndpoints;
  const allowPrivate = config.outboundAllowPrivate.includes('webhooks');
  const { fetch, closeConnections } = createWebhookFetch(settings.timeoutMs, allowPrivate);
  const needs = {
    ...context,
    ...settings,
    allowPrivate,
    fetch,
    webhookRetentionDays: config.webhookRetentionDays,
  };
  const endpoints = bind(needs, endpointOperations);
  const deliveries = bind(needs, deliveryOperations);
  const record = createBatcher(
    (completed: readonly CompletedAttempt[]) => attemptOperations.recordAttempts(needs, completed),
    RECORDING,
  );
  const { findAssetById } = context.lifecycle;
  const attempts = bind(
    { ...needs, ...endpoints, findAssetById, record, delaysMs, random: Math.random },
    attemptOperations,
  );
  const limitTests = createConcurrencyLimit(TESTS);
  let sender: DeliverySender | undefined;
  return {
    deleteOldDeliveries: deliveries.deleteOldDeliveries,
    startSender: () => {
      sender = startDeliverySender({ ...needs, ...bind(needs, { fanOut }), ...attempts, closeConnections });
      return sender;
    },
    routes: endpointRoutes(
      {
        ...context,
        ...endpoints,
        ...deliveries,
        sendTestEvent: (endpoint) => limitTests(endpoint.id, () => attempts.sendTestEvent(endpoint)),
        wakeSender: () => sender?.wake(),
      },
      context.callerOf,
    ),
  };
}

/** More than a process can send concurrently. */
const MAX_LOOKUPS = { maxConcurrent: 2000 };
const POOL_LIMITS = { idleMs: 10_000, maxIdlePerOrigin: 2 };

function createWebhookFetch(timeoutMs: number, allowPrivate: boolean) {
  const pool = createConnectionPool(POOL_LIMITS);
  // A name server that does not respond occupies one thread for each host, not for each request.
  const lookUpOnce = createSingleFlight(MAX_LOOKUPS);
  const fetch = createGuardedFetch({
    allowPrivate,
    pool,
    resolve: (host) => lookUpOnce(host, () => resolveBySystem(host)),
    allowsEncodedBody: true,
    limits: {
      connectMs: timeoutMs,
      headMs: timeoutMs,
      totalMs: timeoutMs,
      maxBodyBytes: Number.MAX_SAFE_INTEGER,
      maxRedirects: 0,
    },
  });
  return { fetch, closeConnections: pool.close };
}
