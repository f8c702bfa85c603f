// Receives webhooks: the provider verifies them, the lifecycle applies them, and every delivery is recorded (contract B6).
import type { DeliveryReason } from '@mediary/contract/enums';
import type { UnauthorizedReason } from '@mediary/contract/errors';
import type { ProviderName } from '../assets/asset.ts';
import type { Cause } from '../lifecycle/reports.ts';
import type { Delivery, Outcome, StreamReport } from '../lifecycle/stream-report.ts';
import { unauthorized } from '../platform/errors.ts';
import { uuidV7 } from '../platform/uuid-v7.ts';
import {
  getProvider,
  type ParsedWebhook,
  type Providers,
  type RejectedWebhook,
  type WebhookRequest,
} from './provider.ts';

type WebhookNeeds = {
  readonly providers: Providers;
  readonly applyReport: (report: StreamReport, cause: Cause) => Promise<Outcome | undefined>;
  readonly recordDelivery: (delivery: Delivery, reason: DeliveryReason) => Promise<Outcome>;
  readonly now: () => Date;
};

/** A webhook request. `kept` contains the headers that may be stored. */
export type Arrival = Omit<WebhookRequest, 'now'> & { readonly kept: Delivery['headers'] };

const REASONS: Readonly<Record<RejectedWebhook['rejected'], UnauthorizedReason>> = {
  'not configured': 'not_configured',
  'Invalid webhook signature': 'bad_signature',
  'Invalid webhook payload': 'invalid_payload',
};

/** Throws UNAUTHORIZED when the request is not from the provider; any other request has an outcome. */
export async function receive(
  needs: WebhookNeeds,
  name: ProviderName,
  { kept, ...incoming }: Arrival,
): Promise<Outcome> {
  const now = needs.now();
  const opened = getProvider(needs.providers, name).open({ ...incoming, now });
  if ('rejected' in opened) throw unauthorized(opened.rejected, { reason: REASONS[opened.rejected] });
  const delivery: Delivery = {
    id: uuidV7(),
    provider: name,
    providerVideoId: videoIdOf(opened),
    body: incoming.body,
    headers: kept,
    receivedAt: now,
    isOurs: 'isOurs' in opened && opened.isOurs === true,
  };
  if ('reason' in opened) return needs.recordDelivery(delivery, opened.reason);
  return (
    (await needs.applyReport(opened.report, { ref: opened.ref, delivery })) ??
    unmatched(needs, delivery, opened)
  );
}

const videoIdOf = (reading: ParsedWebhook): string | null =>
  'ref' in reading && 'providerVideoId' in reading.ref ? reading.ref.providerVideoId : null;

/** A provider's video id may be linked to an asset later; an unknown id of our own stays unknown. */
async function unmatched(
  needs: WebhookNeeds,
  delivery: Delivery,
  { report, ref }: Extract<ParsedWebhook, { ref: unknown }>,
): Promise<Outcome> {
  if (delivery.providerVideoId === null) return needs.recordDelivery(delivery, 'unknown_asset');
  const parked = await needs.recordDelivery(delivery, 'parked');
  // Linking looks for parked reports after its commit, and parking looks for the link after its commit, so one of them finds the other.
  await needs.applyReport(report, { ref, delivery });
  return parked;
}
