// Routes of webhook endpoints: only callers with the service key may use them (contract B8).
import * as operations from '@mediary/contract/operations/webhook-endpoints';
import type { Secret } from '../../auth/secret.ts';
import { createConcurrencyLimit } from '../../platform/concurrency/concurrency-limit.ts';
import type { EventsContext } from '../context.ts';
import { sendTestEvent } from './delivery-attempts.ts';
import { listDeliveryPage, resendDelivery, resendEvents } from './endpoint-deliveries.ts';
import { toDeliveryView } from './endpoint-delivery.ts';
import { toEndpointView, type WebhookEndpoint } from './webhook-endpoint.ts';
import * as endpoints from './webhook-endpoints.ts';
import type { WebhookClient } from './webhook-request.ts';

type DeliveryControls = {
  readonly client: WebhookClient;
  /** The sender looks for work at once. */
  readonly wakeSender: () => void;
};

export function endpointRoutes(ctx: EventsContext, controls: DeliveryControls) {
  const { wakeSender } = controls;
  const { asService } = ctx.auth;
  const toView = (endpoint: WebhookEndpoint) => toEndpointView(endpoint, ctx.clocks.now());
  const withSecret = ({ endpoint, secret }: { endpoint: WebhookEndpoint; secret: Secret }) => ({
    ...toView(endpoint),
    secret: secret.reveal(),
  });
  return [
    asService(operations.createWebhookEndpoint, async ({ body }) => {
      const created = await endpoints.createEndpoint(ctx, body);
      wakeSender();
      return withSecret(created);
    }),
    asService(operations.listWebhookEndpoints, async ({ query }) => {
      const { items, next } = await endpoints.listEndpointPage(ctx, query);
      return { items: items.map(toView), next_cursor: next };
    }),
    asService(operations.getWebhookEndpoint, async ({ params }) =>
      toView(await endpoints.getEndpoint(ctx, params.id)),
    ),
    asService(operations.updateWebhookEndpoint, async ({ params, body }) => {
      const changed = await endpoints.updateEndpoint(ctx, params.id, body);
      wakeSender();
      return toView(changed);
    }),
    asService(operations.deleteWebhookEndpoint, async ({ params }) => ({
      id: await endpoints.deleteEndpoint(ctx, params.id),
      deleted: true as const,
    })),
    asService(operations.rotateEndpointSecret, async ({ params }) =>
      withSecret(await endpoints.rotateSecret(ctx, params.id)),
    ),
    ...deliveryRoutes(ctx, controls),
  ];
}

/** Concurrent test events, in total and of one endpoint. */
const TESTS = { total: 16, perKey: 2 };

function deliveryRoutes(ctx: EventsContext, { client, wakeSender }: DeliveryControls) {
  const { asService } = ctx.auth;
  const limitTests = createConcurrencyLimit(TESTS);
  return [
    asService(operations.testWebhookEndpoint, async ({ params }) => {
      const endpoint = await endpoints.getEndpoint(ctx, params.id);
      const send = () => sendTestEvent(ctx, client, endpoint);
      const { eventId, isDelivered, attempt } = await limitTests(endpoint.id, send);
      return { event_id: eventId, delivered: isDelivered, attempt };
    }),
    asService(operations.listEndpointDeliveries, async ({ params, query }) => {
      const endpoint = await endpoints.getEndpoint(ctx, params.id);
      const { items, next } = await listDeliveryPage(ctx, endpoint, query);
      return { items: items.map(toDeliveryView), next_cursor: next };
    }),
    asService(operations.resendEndpointDelivery, async ({ params }) => {
      const endpoint = await endpoints.getEndpoint(ctx, params.id);
      const delivery = await resendDelivery(ctx, endpoint, params.delivery_id);
      wakeSender();
      return toDeliveryView(delivery);
    }),
    asService(operations.resendEndpointEvents, async ({ params, body }) => {
      const endpoint = await endpoints.getEndpoint(ctx, params.id);
      const { scheduled, nextSince } = await resendEvents(ctx, endpoint, body);
      wakeSender();
      return { scheduled, next_since: nextSince?.toISOString() ?? null };
    }),
  ];
}
