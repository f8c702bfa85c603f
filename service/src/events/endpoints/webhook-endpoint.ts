// A webhook endpoint: its row, how the API shows it, and the rules of its changes (contract B8).
import type { EndpointPauseReason, EndpointStatus } from '@mediary/contract/enums';
import type {
  UpdateEndpointRequest,
  WebhookEndpoint as View,
} from '@mediary/contract/schemas/webhook-endpoints';
import type { RowOf } from '../../platform/postgres/row.ts';
import type { webhookEndpointRow } from '../../tables-rows.ts';
import { isPublished } from '../feed-event.ts';

type ColumnTypes = { status: EndpointStatus; paused_reason: EndpointPauseReason | null };

export type WebhookEndpoint = Readonly<
  Omit<RowOf<typeof webhookEndpointRow>, keyof ColumnTypes> & ColumnTypes
>;

/** The columns that a caller changes. */
export type EndpointEdit = Pick<
  WebhookEndpoint,
  'url' | 'events' | 'description' | 'status' | 'paused_reason' | 'paused_at' | 'failing_since'
> & {
  /** The endpoint gets the events from now on. */
  readonly isActivated: boolean;
};

export function editEndpoint(endpoint: WebhookEndpoint, request: UpdateEndpointRequest): EndpointEdit {
  const { url, events, description, status, paused_reason, paused_at, failing_since } = endpoint;
  const isActivated = request.enabled === true && status !== 'enabled';
  const isMoved = request.url !== undefined && request.url !== url;
  return {
    url: request.url ?? url,
    events: request.events ?? events,
    description: request.description === undefined ? description : request.description,
    isActivated,
    failing_since: isActivated || isMoved ? null : failing_since,
    ...(request.enabled === undefined
      ? { status, paused_reason, paused_at }
      : { status: request.enabled ? 'enabled' : 'disabled', paused_reason: null, paused_at: null }),
  };
}

/** The previous secret, once expired, is not shown. */
export const toEndpointView = (endpoint: WebhookEndpoint, now: Date): View => ({
  id: endpoint.id,
  url: endpoint.url,
  events: endpoint.events as View['events'],
  description: endpoint.description,
  enabled: endpoint.status === 'enabled',
  status: endpoint.status,
  paused_reason: endpoint.paused_reason,
  paused_at: toIso(endpoint.paused_at),
  failing_since: toIso(endpoint.failing_since),
  previous_secret_expires_at: hasPreviousSecret(endpoint, now) ? toIso(endpoint.previous_secret_until) : null,
  created_at: endpoint.created_at.toISOString(),
  updated_at: endpoint.updated_at.toISOString(),
});

export const hasPreviousSecret = (
  { previous_secret_until: until }: Pick<WebhookEndpoint, 'previous_secret_until'>,
  now: Date,
): boolean => until !== null && until > now;

const toIso = (time: Date | null): string | null => time?.toISOString() ?? null;

/** `activeAfter`: transaction of the endpoint's activation. */
type Subscriber = { readonly events: readonly string[]; readonly activeAfter: number };
type PositionedEvent = { readonly type: string; readonly transactionId: number };

/** True for events that happened after the activation and have a type that the endpoint asks for. */
export const isSubscribed = (
  { events, activeAfter }: Subscriber,
  { type, transactionId }: PositionedEvent,
): boolean => transactionId > activeAfter && hasType(events, type);

/** An empty list stands for all types that subscribers receive. */
const hasType = (events: readonly string[], type: string): boolean =>
  isPublished({ type }) && (events.length === 0 || events.includes(type));
