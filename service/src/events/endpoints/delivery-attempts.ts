// Claims due deliveries, sends them, and records their attempts (contract B8).
import { randomUUID } from 'node:crypto';
import type { findAssetById } from '../../assets/asset-lookup.ts';
import { type AssetViewContext, toAssetView } from '../../assets/asset-view.ts';
import type { Bound } from '../../platform/bind.ts';
import type { Logger } from '../../platform/logger.ts';
import type { Database } from '../../platform/postgres/database.ts';
import { uuidV7 } from '../../platform/uuid-v7.ts';
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
import type { getSigningSecrets } from './webhook-endpoints.ts';
import { sendWebhook, type WebhookRequestNeeds, type WebhookResult } from './webhook-request.ts';

type AttemptNeeds = WebhookRequestNeeds & {
  readonly db: Database;
  readonly log: Pick<Logger, 'warn'>;
  readonly view: AssetViewContext;
  readonly findAssetById: Bound<typeof findAssetById>;
  readonly getSigningSecrets: Bound<typeof getSigningSecrets>;
  readonly record: (completed: CompletedAttempt) => Promise<unknown>;
  readonly delaysMs: readonly number[];
  readonly random: () => number;
};

/** A leased delivery with its event; undefined: the event was deleted. */
export type LeasedDelivery = ClaimedDelivery & {
  readonly holder: string;
  readonly event: SentEvent | undefined;
};

/** Each claim has its own holder, so that a lease that expired cannot be mistaken for a later one. */
export async function claimDueDeliveries(
  { db }: Pick<AttemptNeeds, 'db'>,
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

/** Records the result. If `signal` aborts, another process sends the delivery. */
export async function sendDelivery(
  needs: AttemptNeeds,
  delivery: LeasedDelivery,
  signal: AbortSignal,
): Promise<void> {
  try {
    const { attempt, retryAfterMs } = await sendEvent(needs, delivery, signal);
    const plan = planDelivery(
      { status: attempt.status, retryAfterMs, attempts: delivery.attempts + 1 },
      { delaysMs: needs.delaysMs, random: needs.random },
    );
    const { id, holder, endpoint_id: endpointId } = delivery;
    await needs.record({ id, endpointId, holder, attempt, plan });
  } catch (error) {
    if (!signal.aborted) throw error;
    await releaseDeliveries(needs.db, delivery.holder, [delivery.id]);
  }
}

async function sendEvent(
  needs: AttemptNeeds,
  { url, event, ...delivery }: LeasedDelivery,
  signal: AbortSignal,
): Promise<WebhookResult> {
  if (!event) return { attempt: toMissingEvent(needs.now()), retryAfterMs: undefined };
  const [secrets, asset] = await Promise.all([
    needs.getSigningSecrets({ ...delivery, id: delivery.endpoint_id }),
    needs.findAssetById(event.asset_id),
  ]);
  const message = toEventMessage(event, asset ? toAssetView(asset, needs.view) : null);
  return sendWebhook(needs, { id: event.id, url, body: JSON.stringify(message), secrets, signal });
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
  { db, log, pauseAfterMs }: Pick<AttemptNeeds, 'db' | 'log'> & { readonly pauseAfterMs: number },
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
    const recovered = endpoints.filter((each) => each.failing_since && accepted.includes(each.id));
    if (recovered.length > 0)
      await clearFailures(
        tx,
        recovered.map(({ id }) => id),
      );
    const gone = idsOf(isGone);
    const stopped = gone.length > 0 ? await pauseGone(tx, gone) : [];
    const failing = failed.length > 0 ? await recordFailures(tx, failed, pauseAfterMs) : [];
    return [...stopped, ...failing.filter(({ status }) => status === 'paused')];
  });
  for (const { id } of paused) log.warn({ webhook_endpoint: id }, 'a webhook endpoint is paused');
  return attempts.map(() => undefined);
}

type TestResult = { readonly eventId: string; readonly isDelivered: boolean } & Pick<
  WebhookResult,
  'attempt'
>;

/** Sends an event that is no event of an asset, once. */
export async function sendTestEvent(
  needs: Pick<AttemptNeeds, 'fetch' | 'now' | 'getSigningSecrets'>,
  endpoint: WebhookEndpoint,
): Promise<TestResult> {
  const id = uuidV7();
  const body = JSON.stringify({
    id,
    type: 'webhook.test',
    at: needs.now().toISOString(),
    asset_id: null,
    owner_user_id: null,
    attempt: null,
    data: { webhook_endpoint_id: endpoint.id },
    asset: null,
  });
  const secrets = await needs.getSigningSecrets(endpoint);
  const { attempt } = await sendWebhook(needs, { id, url: endpoint.url, body, secrets });
  return { eventId: id, isDelivered: isAccepted(attempt.status), attempt };
}
