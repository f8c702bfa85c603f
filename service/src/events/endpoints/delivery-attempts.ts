// Claims due deliveries, sends them, and records their attempts (contract B8).
import { randomUUID } from 'node:crypto';
import { toAssetView } from '../../assets/asset-view.ts';
import type { SpanStart } from '../../platform/observability/trace-span.ts';
import { continueTrace } from '../../platform/observability/tracing.ts';
import { uuidV7 } from '../../platform/values/uuid-v7.ts';
import type { EventsContext } from '../context.ts';
import { toEventMessage } from '../feed-event.ts';
import {
  type ClaimedDelivery,
  type ClaimLimits,
  claimDeliveries,
  clearFailures,
  findEvents,
  lockDueEndpoints,
  lockEndpoints,
  pauseGone,
  recordFailures,
  releaseDeliveries,
  type SentEvent,
  storeAttempts,
} from './delivery-attempts.sql.ts';
import { type CompletedAttempt, isAccepted, isGone, planDelivery } from './retry-plan.ts';
import type { WebhookEndpoint } from './webhook-endpoint.ts';
import { getSigningSecrets } from './webhook-endpoints.ts';
import { sendWebhook, type WebhookClient, type WebhookResult } from './webhook-request.ts';

/** A leased delivery with its event; undefined: the event was deleted. */
export type LeasedDelivery = ClaimedDelivery & {
  readonly holder: string;
  readonly event: SentEvent | undefined;
};

/** Each claim has its own holder, so that nobody mistakes an expired lease for a later one. */
export async function claimDueDeliveries(
  { db }: EventsContext,
  limits: Omit<ClaimLimits, 'holder'>,
): Promise<readonly LeasedDelivery[]> {
  const holder = randomUUID();
  const claimed = await db.transaction(async (tx) => {
    const endpointIds = await lockDueEndpoints(tx);
    return endpointIds.length === 0 ? [] : claimDeliveries(tx, endpointIds, { ...limits, holder });
  });
  if (claimed.length === 0) return [];
  const events = new Map((await findEvents(db, claimed)).map((event) => [event.id, event]));
  return claimed.map((delivery) => ({ ...delivery, holder, event: events.get(delivery.event_id) }));
}

const ATTEMPTS = {
  name: 'mediary_webhook_attempts_total',
  help: 'Attempts to send a webhook to an endpoint, by result; error: without a response.',
  labels: ['result'],
} as const;

type AttemptOptions = {
  readonly client: WebhookClient;
  readonly record: (completed: CompletedAttempt) => Promise<unknown>;
  /** Aborts when this process stops. */
  readonly signal: AbortSignal;
};

/** Records the result. If `signal` aborts, another process sends the delivery. */
export async function sendDelivery(
  ctx: EventsContext,
  delivery: LeasedDelivery,
  options: AttemptOptions,
): Promise<void> {
  try {
    const { attempt, retryAfterMs } = await continueTrace(toSpan(delivery), delivery.event?.traceparent, () =>
      sendEvent(ctx, delivery, options),
    );
    ctx.service.metrics.count(ATTEMPTS, { result: toResult(attempt.status) });
    const plan = planDelivery(
      { status: attempt.status, retryAfterMs, attempts: delivery.attempts + 1 },
      { delaysMs: ctx.settings.webhookEndpoints.delaysMs, random: Math.random },
    );
    const { id, holder, endpoint_id: endpointId } = delivery;
    await options.record({ id, endpointId, holder, attempt, plan });
  } catch (error) {
    if (!options.signal.aborted) throw error;
    await releaseDeliveries(ctx.db, delivery.holder, [delivery.id]);
  }
}

const toSpan = ({ endpoint_id, asset_id, attempts, event }: LeasedDelivery): SpanStart => ({
  name: 'send webhook',
  kind: 'client',
  attributes: {
    'http.request.method': 'POST',
    ...(attempts > 0 && { 'http.request.resend_count': attempts }),
    'mediary.asset_id': asset_id,
    'mediary.webhook_endpoint': endpoint_id,
    ...(event && { 'mediary.event_type': event.type }),
  },
});

async function sendEvent(
  ctx: EventsContext,
  { url, event, ...delivery }: LeasedDelivery,
  { client, signal }: AttemptOptions,
): Promise<WebhookResult> {
  if (!event) return { attempt: toMissingEvent(ctx.clocks.now()), retryAfterMs: undefined };
  const [secrets, asset] = await Promise.all([
    getSigningSecrets(ctx, { ...delivery, id: delivery.endpoint_id }),
    ctx.lifecycle.findAssetById(event.asset_id),
  ]);
  if (asset) await ctx.view.expectedTimes.prepare([asset]);
  const message = toEventMessage(event, asset ? toAssetView(asset, ctx.view) : null);
  return sendWebhook(ctx, client, { id: event.id, url, body: JSON.stringify(message), secrets, signal });
}

function toResult(status: number | null): 'accepted' | 'refused' | 'error' {
  if (status === null) return 'error';
  return isAccepted(status) ? 'accepted' : 'refused';
}

const toMissingEvent = (now: Date) => ({
  at: now.toISOString(),
  status: null,
  latency_ms: 0,
  response_head: null,
  error: 'event_missing',
});

/** For a batcher: one transaction stores the attempts of many deliveries. */
export async function recordAttempts(
  { db, log, settings }: EventsContext,
  attempts: readonly CompletedAttempt[],
): Promise<undefined[]> {
  const idsOf = (matches: (status: number | null) => boolean) => [
    ...new Set(attempts.filter((each) => matches(each.attempt.status)).map((each) => each.endpointId)),
  ];
  const accepted = idsOf(isAccepted);
  const failed = idsOf((status) => !isAccepted(status)).filter((id) => !accepted.includes(id));
  const paused = await db.transaction(async (tx) => {
    const endpoints = await lockEndpoints(tx, [...new Set(attempts.map((each) => each.endpointId))].sort());
    await storeAttempts(tx, attempts);
    const failing = endpoints.filter((each) => each.failing_since).map(({ id }) => id);
    const recovered = failing.filter((id) => accepted.includes(id));
    if (recovered.length > 0) await clearFailures(tx, recovered);
    const gone = idsOf(isGone);
    const pausedAsGone = gone.length > 0 ? await pauseGone(tx, gone) : [];
    const updated =
      failed.length > 0 ? await recordFailures(tx, failed, settings.webhookEndpoints.pauseAfterMs) : [];
    return [...pausedAsGone, ...updated.filter(({ status }) => status === 'paused')];
  });
  for (const { id } of paused) log.warn({ webhook_endpoint: id }, 'paused a webhook endpoint');
  return attempts.map(() => undefined);
}

type TestResult = { readonly eventId: string; readonly isDelivered: boolean } & Pick<
  WebhookResult,
  'attempt'
>;

/** Sends a `webhook.test` event once; it belongs to no asset. */
export async function sendTestEvent(
  ctx: EventsContext,
  client: WebhookClient,
  endpoint: WebhookEndpoint,
): Promise<TestResult> {
  const id = uuidV7();
  const body = JSON.stringify({
    id,
    type: 'webhook.test',
    at: ctx.clocks.now().toISOString(),
    asset_id: null,
    owner_user_id: null,
    attempt: null,
    data: { webhook_endpoint_id: endpoint.id },
    asset: null,
  });
  const secrets = await getSigningSecrets(ctx, endpoint);
  const { attempt } = await sendWebhook(ctx, client, { id, url: endpoint.url, body, secrets });
  return { eventId: id, isDelivered: isAccepted(attempt.status), attempt };
}
