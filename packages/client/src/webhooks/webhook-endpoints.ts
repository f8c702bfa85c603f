// Calls on webhook endpoints: where the service sends events. They need `serviceKey`.
import type {
  CreateEndpointRequest,
  DeletedEndpoint,
  EndpointDelivery,
  EndpointDeliveryPage,
  EndpointTestResult,
  ListEndpointDeliveriesQuery,
  ListEndpointsQuery,
  ResendEventsRequest,
  ResendResult,
  UpdateEndpointRequest,
  WebhookEndpoint,
  WebhookEndpointPage,
  WebhookEndpointWithSecret,
} from '../api/webhook-endpoints.ts';
import { createPagedList, type PagedList } from '../pages.ts';
import { type CallOptions, pathBelow, type Transport } from '../transport.ts';

/** The service ignores idempotency keys here: it would have to store secrets in plain text. */
type EndpointCallOptions = Omit<CallOptions, 'idempotencyKey' | 'ownerUserId'>;

export type WebhookEndpoints = {
  /**
   * The response alone shows the `secret`: store it, and pass it to `verifyWebhook`. The call is not repeated
   * after a lost response (`ConnectionError`, `TimeoutError`) or a 5xx: look for the endpoint in the list.
   * Errors: 400 `url_…`, 409 `too_many_endpoints`.
   */
  create(request: CreateEndpointRequest, options?: EndpointCallOptions): Promise<WebhookEndpointWithSecret>;
  /** Newest first. */
  list(
    query?: ListEndpointsQuery,
    options?: EndpointCallOptions,
  ): PagedList<WebhookEndpoint, WebhookEndpointPage>;
  get(id: string, options?: EndpointCallOptions): Promise<WebhookEndpoint>;
  /** Omitted members keep their values. `enabled: true` also ends a pause. */
  update(id: string, changes: UpdateEndpointRequest, options?: EndpointCallOptions): Promise<WebhookEndpoint>;
  delete(id: string, options?: EndpointCallOptions): Promise<DeletedEndpoint>;
  /**
   * The previous secret signs too for 24 hours. The call is not repeated after a lost response or a 5xx: a
   * second replacement would end that secret at once.
   */
  rotateSecret(id: string, options?: EndpointCallOptions): Promise<WebhookEndpointWithSecret>;
  /** Sends one `webhook.test` event now. */
  test(id: string, options?: EndpointCallOptions): Promise<EndpointTestResult>;
  /** Newest first. */
  deliveries(
    id: string,
    query?: ListEndpointDeliveriesQuery,
    options?: EndpointCallOptions,
  ): PagedList<EndpointDelivery, EndpointDeliveryPage>;
  /** Sends the event of one delivery again; a pending delivery is sent now. */
  resend(id: string, deliveryId: string, options?: EndpointCallOptions): Promise<EndpointDelivery>;
  /** Sends the events of a period again. `next_since`: there are more, call again with it as `since`. */
  resendEvents(
    id: string,
    request: ResendEventsRequest,
    options?: EndpointCallOptions,
  ): Promise<ResendResult>;
};

const ROOT = '/webhook-endpoints';
const endpointPath = pathBelow(ROOT, 'webhook endpoint');

export function createWebhookEndpoints(transport: Transport): WebhookEndpoints {
  const post = <T>(path: string, body: object, options?: EndpointCallOptions): Promise<T> =>
    transport.request({ method: 'POST', path, body, options });
  // A repetition of a request that took effect would create a second endpoint or replace the secret again.
  const postOnce = <T>(path: string, body: object, options?: EndpointCallOptions): Promise<T> =>
    transport.request({ method: 'POST', path, body, options, isRepeatable: false });
  const list = <T, P extends { items: T[]; next_cursor: string | null }>(
    path: string,
    filters: { cursor?: string | undefined } = {},
    options?: EndpointCallOptions,
  ) =>
    createPagedList<T, P>(
      (cursor) => transport.request({ method: 'GET', path, query: { ...filters, cursor }, options }),
      filters.cursor,
    );
  return {
    create: (request, options) => postOnce(ROOT, request, options),
    list: (query, options) => list(ROOT, query, options),
    get: (id, options) => transport.request({ method: 'GET', path: endpointPath(id), options }),
    update: (id, body, options) =>
      transport.request({ method: 'PATCH', path: endpointPath(id), body, options }),
    delete: (id, options) => {
      const dataIfGone: DeletedEndpoint = { id, deleted: true };
      return transport.request({ method: 'DELETE', path: endpointPath(id), options, dataIfGone });
    },
    rotateSecret: (id, options) => postOnce(endpointPath(id, '/rotate-secret'), {}, options),
    test: (id, options) => post(endpointPath(id, '/test'), {}, options),
    deliveries: (id, query, options) => list(endpointPath(id, '/deliveries'), query, options),
    resend: (id, deliveryId, options) => {
      if (deliveryId === '') throw new TypeError('The id of the delivery is empty.');
      return post(endpointPath(id, `/deliveries/${encodeURIComponent(deliveryId)}/resend`), {}, options);
    },
    resendEvents: (id, request, options) => post(endpointPath(id, '/resend'), request, options),
  };
}
