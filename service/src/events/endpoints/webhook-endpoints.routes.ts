// Routes of webhook endpoints: only callers with the service key may use them (contract B8).
import * as operations from '@mediary/contract/operations/webhook-endpoints';
import type { FastifyRequest } from 'fastify';
import type { Caller } from '../../auth/caller.ts';
import type { Secret } from '../../auth/secret.ts';
import type { Bound } from '../../platform/bind.ts';
import { forbidden } from '../../platform/errors.ts';
import { guarded } from '../../platform/http/route.ts';
import type { sendTestEvent } from './delivery-attempts.ts';
import type * as deliveryOperations from './endpoint-deliveries.ts';
import { toDeliveryView } from './endpoint-delivery.ts';
import { toEndpointView, type WebhookEndpoint } from './webhook-endpoint.ts';
import type * as endpointOperations from './webhook-endpoints.ts';

type EndpointOperations = {
  readonly createEndpoint: Bound<typeof endpointOperations.createEndpoint>;
  readonly getEndpoint: Bound<typeof endpointOperations.getEndpoint>;
  readonly listEndpointPage: Bound<typeof endpointOperations.listEndpointPage>;
  readonly changeEndpoint: Bound<typeof endpointOperations.changeEndpoint>;
  readonly removeEndpoint: Bound<typeof endpointOperations.removeEndpoint>;
  readonly rotateSecret: Bound<typeof endpointOperations.rotateSecret>;
  readonly listDeliveryPage: Bound<typeof deliveryOperations.listDeliveryPage>;
  readonly resendDelivery: Bound<typeof deliveryOperations.resendDelivery>;
  readonly resendEvents: Bound<typeof deliveryOperations.resendEvents>;
  readonly sendTestEvent: Bound<typeof sendTestEvent>;
  readonly wakeSender: () => void;
  readonly now: () => Date;
};

/** Throws UNAUTHORIZED, and FORBIDDEN without the scope. */
export type CallerOf = (request: FastifyRequest) => Caller | Promise<Caller>;

/**
 * Who may manage webhook endpoints. An Idempotency-Key is ignored: its stored response would hold a secret in
 * plain text.
 */
const endpointGuard = (callerOf: CallerOf) =>
  guarded<undefined, object>({
    name: 'service',
    identify: (request) => {
      const caller = callerOf(request);
      return caller instanceof Promise ? caller.then(assertService) : assertService(caller);
    },
    admit: () => ({}),
  });

function assertService({ kind }: Caller): undefined {
  if (kind !== 'service') throw forbidden('Webhook endpoints need the service key: "X-Service-Key: <key>"');
}

export function endpointRoutes(endpoints: EndpointOperations, callerOf: CallerOf) {
  const asService = endpointGuard(callerOf);
  const toView = (endpoint: WebhookEndpoint) => toEndpointView(endpoint, endpoints.now());
  const withSecret = ({ endpoint, secret }: { endpoint: WebhookEndpoint; secret: Secret }) => ({
    ...toView(endpoint),
    secret: secret.reveal(),
  });
  return [
    asService(operations.createWebhookEndpoint, async ({ body }) => {
      const created = await endpoints.createEndpoint(body);
      endpoints.wakeSender();
      return withSecret(created);
    }),
    asService(operations.listWebhookEndpoints, async ({ query }) => {
      const { items, next } = await endpoints.listEndpointPage(query);
      return { items: items.map(toView), next_cursor: next };
    }),
    asService(operations.getWebhookEndpoint, async ({ params }) =>
      toView(await endpoints.getEndpoint(params.id)),
    ),
    asService(operations.updateWebhookEndpoint, async ({ params, body }) => {
      const changed = await endpoints.changeEndpoint(params.id, body);
      endpoints.wakeSender();
      return toView(changed);
    }),
    asService(operations.deleteWebhookEndpoint, async ({ params }) => ({
      id: await endpoints.removeEndpoint(params.id),
      deleted: true as const,
    })),
    asService(operations.rotateEndpointSecret, async ({ params }) =>
      withSecret(await endpoints.rotateSecret(params.id)),
    ),
    ...deliveryRoutes(endpoints, asService),
  ];
}

const deliveryRoutes = (endpoints: EndpointOperations, asService: ReturnType<typeof endpointGuard>) => [
  asService(operations.testWebhookEndpoint, async ({ params }) => {
    const { eventId, isDelivered, attempt } = await endpoints.sendTestEvent(
      await endpoints.getEndpoint(params.id),
    );
    return { event_id: eventId, delivered: isDelivered, attempt };
  }),
  asService(operations.listEndpointDeliveries, async ({ params, query }) => {
    const endpoint = await endpoints.getEndpoint(params.id);
    const { items, next } = await endpoints.listDeliveryPage(endpoint, query);
    return { items: items.map(toDeliveryView), next_cursor: next };
  }),
  asService(operations.resendEndpointDelivery, async ({ params }) => {
    const endpoint = await endpoints.getEndpoint(params.id);
    const delivery = await endpoints.resendDelivery(endpoint, params.delivery_id);
    endpoints.wakeSender();
    return toDeliveryView(delivery);
  }),
  asService(operations.resendEndpointEvents, async ({ params, body }) => {
    const endpoint = await endpoints.getEndpoint(params.id);
    const { scheduled, nextSince } = await endpoints.resendEvents(endpoint, body);
    endpoints.wakeSender();
    return { scheduled, next_since: nextSince?.toISOString() ?? null };
  }),
];
