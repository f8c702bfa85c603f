// Receives webhooks: the provider verifies them, the lifecycle applies and records them (contract B6).
import type { UnauthorizedReason } from '@mediary/contract/errors';
import type { ProviderName } from '../../assets/asset.ts';
import type { Delivery, DeliveryOutcome } from '../../lifecycle/decisions/stream-report.ts';
import { unauthorized } from '../../platform/http/errors.ts';
import { uuidV7 } from '../../platform/values/uuid-v7.ts';
import type { ProvidersContext } from '../context.ts';
import { getProvider, type ParsedWebhook, type RejectedWebhook, type WebhookRequest } from '../provider.ts';

/** A webhook request with the headers to store. */
export type ReceivedWebhook = Omit<WebhookRequest, 'now'> & { readonly storedHeaders: Delivery['headers'] };

const REASONS: Readonly<Record<RejectedWebhook['rejected'], UnauthorizedReason>> = {
  'not configured': 'not_configured',
  'Invalid webhook signature': 'bad_signature',
  'Invalid webhook payload': 'invalid_payload',
};

const DELIVERIES = {
  name: 'mediary_webhook_deliveries_total',
  help: 'Webhooks received from providers, by the reason of their effect, or why they were refused.',
  labels: ['provider', 'verdict'],
} as const;

type WebhookResult = DeliveryOutcome & { readonly isOwnEncoder: boolean };

/** Throws UNAUTHORIZED when the request is not from the provider; any other request has an outcome. */
export async function receiveWebhook(
  ctx: ProvidersContext,
  name: ProviderName,
  webhook: ReceivedWebhook,
): Promise<WebhookResult> {
  const { delivery, parsed } = verify(ctx, name, webhook);
  const outcome = await record(ctx, delivery, parsed);
  countDelivery(ctx, name, outcome.reason);
  return { ...outcome, isOwnEncoder: delivery.isOwnEncoder };
}

const countDelivery = (
  { service }: ProvidersContext,
  provider: ProviderName,
  verdict: DeliveryOutcome['reason'] | UnauthorizedReason,
): void => service.metrics.count(DELIVERIES, { provider, verdict });

type VerifiedWebhook = { readonly delivery: Delivery; readonly parsed: ParsedWebhook };

function verify(
  ctx: ProvidersContext,
  name: ProviderName,
  { storedHeaders, ...request }: ReceivedWebhook,
): VerifiedWebhook {
  const now = ctx.clocks.now();
  const parsed = getProvider(ctx.registry, name).verify({ ...request, now });
  if ('rejected' in parsed) {
    const reason = REASONS[parsed.rejected];
    countDelivery(ctx, name, reason);
    throw unauthorized(parsed.rejected, { reason });
  }
  const delivery: Delivery = {
    id: uuidV7(),
    provider: name,
    providerVideoId: videoIdOf(parsed),
    body: request.body,
    headers: storedHeaders,
    receivedAt: now,
    isOwnEncoder: 'isOwnEncoder' in parsed && parsed.isOwnEncoder === true,
  };
  return { delivery, parsed };
}

async function record(
  ctx: ProvidersContext,
  delivery: Delivery,
  parsed: ParsedWebhook,
): Promise<DeliveryOutcome> {
  if ('reason' in parsed) return ctx.lifecycle.recordDelivery(delivery, parsed.reason);
  const outcome = await ctx.lifecycle.applyReport(parsed.report, { ref: parsed.ref, delivery });
  return outcome ?? recordUnmatched(ctx, delivery, parsed);
}

const videoIdOf = (parsed: ParsedWebhook): string | null =>
  'ref' in parsed && 'providerVideoId' in parsed.ref ? parsed.ref.providerVideoId : null;

/**
 * An asset may be linked to the provider's video later; an unknown asset id stays unknown. Nothing is
 * recorded of what was erased with its owner.
 */
async function recordUnmatched(
  ctx: ProvidersContext,
  delivery: Delivery,
  { report, ref }: Extract<ParsedWebhook, { ref: unknown }>,
): Promise<DeliveryOutcome> {
  if (await ctx.lifecycle.isErased(ref)) return { processed: false, reason: 'unknown_asset' };
  if (delivery.providerVideoId === null) return ctx.lifecycle.recordDelivery(delivery, 'unknown_asset');
  const outcome = await ctx.lifecycle.recordDelivery(delivery, 'parked');
  // Linking looks for parked reports after its commit, and parking looks for the link after its commit.
  await ctx.lifecycle.applyReport(report, { ref, delivery });
  return outcome;
}
