// Calls on webhook endpoints: where the service sends events. They need `serviceKey`.
import type { PublishedEventType } from './api/enums.ts';
import { createPagedList, type PagedList } from './pages.ts';
import type { CallOptions, Transport } from './transport.ts';

export type WebhookEndpointRequest = {
  /** An http or https URL that receives events as POST requests. */
  url: string;
  /** Types of the events to send. Empty: all. */
  events?: PublishedEventType[] | undefined;
  description?: string | null | undefined;
  /** False: the endpoint gets no events. */
  enabled?: boolean | undefined;
};

export type WebhookEndpoint = {
  id: string;
  url: string;
  events: PublishedEventType[];
  description: string | null;
  enabled: boolean;
  /** `disabled` by a caller; `paused` by the service. `enabled: true` ends both. */
  status: 'enabled' | 'disabled' | 'paused';
  /** `gone`: it responded with 410. `failing`: every delivery failed for days. */
  paused_reason: 'gone' | 'failing' | null;
  paused_at: string | null;
  failing_since: string | null;
  /** Until then the previous secret signs too. */
  previous_secret_expires_at: string | null;
  created_at: string;
  updated_at: string;
};

/** `secret`: shown in this response only. */
export type WebhookEndpointWithSecret = WebhookEndpoint & { secret: string };

export type DeliveryAttempt = {
  at: string;
  /** HTTP status; null without a response. */
  status: number | null;
  latency_ms: number;
  /** The start of the response body as text. */
  response_head: string | null;
  /** Why there was no response. */
  error: string | null;
};

export type WebhookDelivery = {
  id: string;
  /** `webhook-id` of every attempt. */
  event_id: string;
  type: PublishedEventType;
  asset_id: string;
  /** `failed`: every retry failed. */
  state: 'pending' | 'delivered' | 'failed';
  attempts: DeliveryAttempt[];
  next_attempt_at: string | null;
  created_at: string;
  completed_at: string | null;
};

type Page<T> = { items: T[]; next_cursor: string | null };

export type ResendRequest = {
  /** ISO 8601, inclusive. */
  since: string;
  /** ISO 8601, exclusive. Default: now. */
  until?: string | undefined;
  /** Default: the types of the endpoint. */
  types?: PublishedEventType[] | undefined;
};

export type WebhookEndpoints = {
  /** The response alone shows the `secret`: store it, and pass it to `verifyWebhook`. */
  create(request: WebhookEndpointRequest, options?: CallOptions): Promise<WebhookEndpointWithSecret>;
  list(query?: { limit?: number }, options?: CallOptions): PagedList<WebhookEndpoint, Page<WebhookEndpoint>>;
  get(id: string, options?: CallOptions): Promise<WebhookEndpoint>;
  /** Omitted members keep their values. */
  update(
    id: string,
    changes: Partial<WebhookEndpointRequest>,
    options?: CallOptions,
  ): Promise<WebhookEndpoint>;
  delete(id: string, options?: CallOptions): Promise<{ id: string; deleted: true }>;
  /** The old secret signs too for 24 hours. */
  rotateSecret(id: string, options?: CallOptions): Promise<WebhookEndpointWithSecret>;
  /** Sends one `webhook.test` event now. */
  test(
    id: string,
    options?: CallOptions,
  ): Promise<{ event_id: string; delivered: boolean; attempt: DeliveryAttempt }>;
  /** Newest first. */
  deliveries(
    id: string,
    query?: { limit?: number; state?: WebhookDelivery['state'] },
    options?: CallOptions,
  ): PagedList<WebhookDelivery, Page<WebhookDelivery>>;
  /** Sends one delivery again. */
  resend(id: string, deliveryId: string, options?: CallOptions): Promise<WebhookDelivery>;
  /** Sends the events of a period again. `next_since`: call again with it, there are more. */
  resendEvents(
    id: string,
    request: ResendRequest,
    options?: CallOptions,
  ): Promise<{ scheduled: number; next_since: string | null }>;
};

const ROOT = '/webhook-endpoints';
const endpointPath = (id: string, rest = ''): string => {
  if (id === '') throw new TypeError('The id of the webhook endpoint is empty.');
  return `${ROOT}/${encodeURIComponent(id)}${rest}`;
};

export function createWebhookEndpoints(transport: Transport): WebhookEndpoints {
  const post = <T>(path: string, body: object, options?: CallOptions): Promise<T> =>
    transport.request({ method: 'POST', path, body, options });
  const list = <T>(path: string, query: object | undefined, options?: CallOptions) =>
    createPagedList<T, Page<T>>((cursor) =>
      transport.request({ method: 'GET', path, query: { ...query, cursor }, options }),
    );
  return {
    create: (request, options) => post(ROOT, request, options),
    list: (query, options) => list(ROOT, query, options),
    get: (id, options) => transport.request({ method: 'GET', path: endpointPath(id), options }),
    update: (id, body, options) =>
      transport.request({ method: 'PATCH', path: endpointPath(id), body, options }),
    delete: (id, options) => transport.request({ method: 'DELETE', path: endpointPath(id), options }),
    rotateSecret: (id, options) => post(endpointPath(id, '/rotate-secret'), {}, options),
    test: (id, options) => post(endpointPath(id, '/test'), {}, options),
    deliveries: (id, query, options) => list(endpointPath(id, '/deliveries'), query, options),
    resend: (id, deliveryId, options) =>
      post(endpointPath(id, `/deliveries/${encodeURIComponent(deliveryId)}/resend`), {}, options),
    resendEvents: (id, request, options) => post(endpointPath(id, '/resend'), request, options),
  };
}
