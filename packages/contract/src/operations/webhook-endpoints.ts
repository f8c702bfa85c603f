// Operations of outbound webhooks: endpoints, their secrets, deliveries and resends.
import { type ErrorCase, jsonOperation } from '../operation.ts';
import {
  CreateEndpointRequest,
  DeletedEndpoint,
  EndpointDelivery,
  EndpointDeliveryPage,
  EndpointTestResult,
  EXAMPLE_ATTEMPT,
  EXAMPLE_ENDPOINT,
  EXAMPLE_ENDPOINT_DELIVERY,
  EXAMPLE_ENDPOINT_WITH_SECRET,
  ListEndpointDeliveriesQuery,
  ListEndpointsQuery,
  ResendEventsRequest,
  ResendResult,
  UpdateEndpointRequest,
  WebhookEndpoint,
  WebhookEndpointPage,
  WebhookEndpointWithSecret,
} from '../schemas/webhook-endpoints.ts';

const OF_ENDPOINTS = {
  path: '/api/v1/webhook-endpoints',
  tag: 'Webhooks',
  auth: 'service',
  scope: 'webhooks',
} as const;
const OF_ENDPOINT = { ...OF_ENDPOINTS, path: '/api/v1/webhook-endpoints/{id}' } as const;

const URL_REFUSED: ErrorCase = {
  code: 'BAD_REQUEST',
  reason: 'url_private_address',
  when: 'The service does not send webhooks to `url`; `reason` says why.',
};
const NO_ENDPOINT: ErrorCase = { code: 'NOT_FOUND', when: 'No such webhook endpoint.' };

export const createWebhookEndpoint = jsonOperation({
  ...OF_ENDPOINTS,
  id: 'createWebhookEndpoint',
  method: 'POST',
  summary: 'Create a webhook endpoint',
  description:
    'The endpoint gets every event that happens from now on, in the form of Standard Webhooks. The body ' +
    'is the event with the asset as it is when the event is sent. `webhook-id` is the id of the event, ' +
    '`webhook-signature` the HMAC-SHA256 with the secret. Only this response shows the secret. A ' +
    'response of 2xx within `WEBHOOK_ENDPOINT_TIMEOUT_S` accepts the event. Otherwise it is sent again ' +
    'after 5 s, 5 min, 30 min, 2, 5, 10, 14, 20 and 24 h. An event may arrive more than once. Events of ' +
    'one asset arrive in their order.',
  body: CreateEndpointRequest,
  isBodyRequired: true,
  message: 'Webhook endpoint created',
  data: WebhookEndpointWithSecret,
  example: EXAMPLE_ENDPOINT_WITH_SECRET,
  errors: [
    URL_REFUSED,
    {
      code: 'CONFLICT',
      reason: 'too_many_endpoints',
      when: 'The service has `WEBHOOK_ENDPOINT_MAX_COUNT` endpoints.',
    },
  ],
});

export const listWebhookEndpoints = jsonOperation({
  ...OF_ENDPOINTS,
  id: 'listWebhookEndpoints',
  method: 'GET',
  summary: 'List webhook endpoints',
  description: 'Lists the webhook endpoints, newest first.',
  query: ListEndpointsQuery,
  message: 'Webhook endpoints',
  data: WebhookEndpointPage,
  example: { items: [EXAMPLE_ENDPOINT], next_cursor: null },
});

export const getWebhookEndpoint = jsonOperation({
  ...OF_ENDPOINT,
  id: 'getWebhookEndpoint',
  method: 'GET',
  summary: 'Get a webhook endpoint',
  message: 'Webhook endpoint',
  data: WebhookEndpoint,
  example: EXAMPLE_ENDPOINT,
  errors: [NO_ENDPOINT],
});

export const updateWebhookEndpoint = jsonOperation({
  ...OF_ENDPOINT,
  id: 'updateWebhookEndpoint',
  method: 'PATCH',
  summary: 'Update a webhook endpoint',
  description:
    '`enabled: true` also ends a pause. An endpoint that was not enabled gets the events that happen from ' +
    'then on; resend the ones that it missed.',
  body: UpdateEndpointRequest,
  isBodyRequired: true,
  message: 'Webhook endpoint updated',
  data: WebhookEndpoint,
  example: EXAMPLE_ENDPOINT,
  errors: [URL_REFUSED, NO_ENDPOINT],
});

export const deleteWebhookEndpoint = jsonOperation({
  ...OF_ENDPOINT,
  id: 'deleteWebhookEndpoint',
  method: 'DELETE',
  summary: 'Delete a webhook endpoint',
  description: 'Deletes a webhook endpoint and its secret.',
  message: 'Webhook endpoint deleted',
  data: DeletedEndpoint,
  example: { id: EXAMPLE_ENDPOINT.id, deleted: true },
  errors: [NO_ENDPOINT],
});

export const rotateEndpointSecret = jsonOperation({
  ...OF_ENDPOINTS,
  id: 'rotateEndpointSecret',
  method: 'POST',
  path: '/api/v1/webhook-endpoints/{id}/rotate-secret',
  summary: 'Rotate the secret of an endpoint',
  description:
    'Only this response shows the new secret. For 24 hours the previous secret signs too: ' +
    '`webhook-signature` then has both signatures, separated by a space.',
  message: 'Secret replaced',
  data: WebhookEndpointWithSecret,
  example: {
    ...EXAMPLE_ENDPOINT_WITH_SECRET,
    previous_secret_expires_at: '2026-11-23T10:00:00.000Z',
  },
  errors: [NO_ENDPOINT],
});

export const testWebhookEndpoint = jsonOperation({
  ...OF_ENDPOINTS,
  id: 'testWebhookEndpoint',
  method: 'POST',
  path: '/api/v1/webhook-endpoints/{id}/test',
  summary: 'Send a test event',
  description:
    'The event has the type `webhook.test` and no asset. It is sent once, also to an endpoint that is not ' +
    'enabled, and is not in the list of deliveries.',
  message: 'Test event sent',
  data: EndpointTestResult,
  example: { event_id: '019aab7c-8888-7c55-9f0e-000000000004', delivered: true, attempt: EXAMPLE_ATTEMPT },
  errors: [
    NO_ENDPOINT,
    { code: 'UNAVAILABLE', reason: 'busy', when: 'Too many test events are being sent.' },
  ],
});

export const listEndpointDeliveries = jsonOperation({
  ...OF_ENDPOINTS,
  id: 'listEndpointDeliveries',
  method: 'GET',
  path: '/api/v1/webhook-endpoints/{id}/deliveries',
  summary: 'List deliveries to an endpoint',
  description: 'Lists the deliveries to a webhook endpoint with their attempts, newest first.',
  query: ListEndpointDeliveriesQuery,
  message: 'Deliveries',
  data: EndpointDeliveryPage,
  example: { items: [EXAMPLE_ENDPOINT_DELIVERY], next_cursor: null },
  errors: [NO_ENDPOINT],
});

export const resendEndpointDelivery = jsonOperation({
  ...OF_ENDPOINTS,
  id: 'resendEndpointDelivery',
  method: 'POST',
  path: '/api/v1/webhook-endpoints/{id}/deliveries/{delivery_id}/resend',
  summary: 'Resend an event',
  description:
    'A pending delivery is sent now instead of at `next_attempt_at`, unless it waits for an earlier event ' +
    'of the asset. A delivered or failed one is sent again as a new delivery of the same event.',
  message: 'Delivery scheduled',
  data: EndpointDelivery,
  example: {
    ...EXAMPLE_ENDPOINT_DELIVERY,
    state: 'pending',
    attempts: [],
    next_attempt_at: EXAMPLE_ENDPOINT_DELIVERY.created_at,
    completed_at: null,
  },
  errors: [{ code: 'NOT_FOUND', when: 'No such webhook endpoint or delivery.' }],
});

export const resendEndpointEvents = jsonOperation({
  ...OF_ENDPOINTS,
  id: 'resendEndpointEvents',
  method: 'POST',
  path: '/api/v1/webhook-endpoints/{id}/resend',
  summary: 'Resend the events of a period',
  description:
    'Also events from before the endpoint was created, and those that it missed while it was not enabled. ' +
    'Events that are pending for the endpoint are not scheduled twice.',
  body: ResendEventsRequest,
  isBodyRequired: true,
  message: 'Events scheduled',
  data: ResendResult,
  example: { scheduled: 12, next_since: null },
  errors: [NO_ENDPOINT],
});
