// Outbound webhooks: the endpoints of callers, and the deliveries to them.
import { type Static, Type } from 'typebox';
import {
  ENDPOINT_DELIVERY_STATES,
  ENDPOINT_PAUSE_REASONS,
  ENDPOINT_STATUSES,
  type EndpointPauseReason,
  PUBLISHED_EVENT_TYPES,
} from '../enums.ts';
import { EXAMPLE_ASSET } from './assets/asset.ts';
import { AssetId, Cursor, NextCursor, nullable, Timestamp } from './common.ts';

const EventTypes = Type.Array(Type.Enum([...PUBLISHED_EVENT_TYPES]), {
  maxItems: 50,
  description: 'Types of the events to send. Empty: all.',
  examples: [['asset.ready', 'asset.failed']],
});

const inputs = {
  url: Type.String({
    minLength: 1,
    maxLength: 2048,
    description: 'An http or https URL that receives events as POST requests. Redirects are not followed.',
    examples: ['https://app.example.com/webhooks/media'],
  }),
  events: EventTypes,
  description: nullable(Type.String({ maxLength: 500, examples: ['Publishing'] })),
  enabled: Type.Boolean({ description: 'False: the endpoint gets no events.' }),
};

export const CreateEndpointRequest = Type.Object(
  {
    url: inputs.url,
    events: Type.Optional(inputs.events),
    description: Type.Optional(inputs.description),
    enabled: Type.Optional(inputs.enabled),
  },
  {
    $id: 'CreateEndpointRequest',
    examples: [{ url: 'https://app.example.com/webhooks/media', events: ['asset.ready', 'asset.failed'] }],
  },
);
export type CreateEndpointRequest = Static<typeof CreateEndpointRequest>;

/** Unknown members are rejected. */
export const UpdateEndpointRequest = Type.Object(
  {
    url: Type.Optional(inputs.url),
    events: Type.Optional(inputs.events),
    description: Type.Optional(inputs.description),
    enabled: Type.Optional(inputs.enabled),
  },
  { $id: 'UpdateEndpointRequest', additionalProperties: false, examples: [{ enabled: true }] },
);
export type UpdateEndpointRequest = Static<typeof UpdateEndpointRequest>;

const endpoint = {
  id: Type.String({ format: 'uuid' }),
  ...inputs,
  status: Type.Enum([...ENDPOINT_STATUSES], {
    description: '`disabled` by a caller; `paused` by the service. `enabled: true` ends both.',
  }),
  paused_reason: nullable(
    Type.Enum(Object.keys(ENDPOINT_PAUSE_REASONS) as EndpointPauseReason[], {
      description: Object.entries(ENDPOINT_PAUSE_REASONS)
        .map(([reason, meaning]) => `\`${reason}\`: ${meaning}`)
        .join(' '),
    }),
  ),
  paused_at: nullable(Timestamp),
  failing_since: nullable(
    Type.String({ format: 'date-time', description: 'The first failed attempt after the latest success.' }),
  ),
  previous_secret_expires_at: nullable(
    Type.String({ format: 'date-time', description: 'Until then the previous secret signs too.' }),
  ),
  created_at: Timestamp,
  updated_at: Timestamp,
};

export const WebhookEndpoint = Type.Object(endpoint, { $id: 'WebhookEndpoint' });
export type WebhookEndpoint = Static<typeof WebhookEndpoint>;

export const WebhookEndpointWithSecret = Type.Object(
  {
    ...endpoint,
    secret: Type.String({
      description: '`whsec_` and 32 bytes in Base64. Shown in this response only.',
      examples: ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwGhvFr3Vn6dU='],
    }),
  },
  { $id: 'WebhookEndpointWithSecret' },
);
export type WebhookEndpointWithSecret = Static<typeof WebhookEndpointWithSecret>;

const paging = {
  limit: Type.Integer({ minimum: 1, maximum: 200, default: 50 }),
  cursor: Type.Optional(Cursor),
};

export const ListEndpointsQuery = Type.Object(paging);

export const WebhookEndpointPage = Type.Object(
  { items: Type.Array(WebhookEndpoint), next_cursor: NextCursor },
  { $id: 'WebhookEndpointPage' },
);

export const DeletedEndpoint = Type.Object(
  { id: Type.String({ format: 'uuid' }), deleted: Type.Literal(true) },
  { $id: 'DeletedEndpoint' },
);

export const DeliveryAttempt = Type.Object(
  {
    at: Timestamp,
    status: nullable(Type.Integer({ description: 'HTTP status; null without a response.' })),
    latency_ms: Type.Integer({ description: 'Until the response, or until the failure.' }),
    response_head: nullable(
      Type.String({ description: 'The start of the response body, at most 1 KiB, as text.' }),
    ),
    error: nullable(
      Type.String({ description: 'Why there was no response: a reason, and details after a colon.' }),
    ),
  },
  { $id: 'DeliveryAttempt' },
);
export type DeliveryAttempt = Static<typeof DeliveryAttempt>;

export const EndpointDelivery = Type.Object(
  {
    id: Type.String({ format: 'uuid' }),
    event_id: Type.String({ format: 'uuid', description: '`webhook-id` of every attempt.' }),
    type: Type.Enum([...PUBLISHED_EVENT_TYPES]),
    asset_id: AssetId,
    state: Type.Enum([...ENDPOINT_DELIVERY_STATES], {
      description: '`failed`: every retry failed, or the endpoint responded with 410.',
    }),
    attempts: Type.Array(DeliveryAttempt, { description: 'Oldest first.' }),
    next_attempt_at: nullable(
      Type.String({
        format: 'date-time',
        description:
          'Null while an attempt runs, after the last one, and while the delivery waits for an earlier ' +
          'event of the same asset.',
      }),
    ),
    created_at: Timestamp,
    completed_at: nullable(Timestamp),
  },
  { $id: 'EndpointDelivery' },
);
export type EndpointDelivery = Static<typeof EndpointDelivery>;

export const ListEndpointDeliveriesQuery = Type.Object({
  ...paging,
  state: Type.Optional(Type.Enum([...ENDPOINT_DELIVERY_STATES])),
});

export const EndpointDeliveryPage = Type.Object(
  { items: Type.Array(EndpointDelivery), next_cursor: NextCursor },
  { $id: 'EndpointDeliveryPage' },
);

export const EndpointTestResult = Type.Object(
  {
    event_id: Type.String({ format: 'uuid', description: '`webhook-id` of the test event.' }),
    delivered: Type.Boolean({ description: 'True when the endpoint responded with 2xx.' }),
    attempt: DeliveryAttempt,
  },
  { $id: 'EndpointTestResult' },
);

export const ResendEventsRequest = Type.Object(
  {
    since: Type.String({ description: 'ISO 8601, inclusive.', examples: ['2026-11-22T10:00:00.000Z'] }),
    until: Type.Optional(Type.String({ description: 'ISO 8601, exclusive. Default: now.' })),
    types: Type.Optional({
      ...EventTypes,
      description: 'Types of the events to send again. Empty or omitted: those of the endpoint.',
    }),
  },
  {
    $id: 'ResendEventsRequest',
    examples: [{ since: '2026-11-22T10:00:00.000Z', until: '2026-11-22T11:00:00.000Z' }],
  },
);
export type ResendEventsRequest = Static<typeof ResendEventsRequest>;

export const ResendResult = Type.Object(
  {
    scheduled: Type.Integer({ description: 'Events that are sent again; at most 10,000.' }),
    next_since: nullable(
      Type.String({
        format: 'date-time',
        description: 'More events match: call again with this `since`. Null: these were all.',
      }),
    ),
  },
  { $id: 'ResendResult' },
);

export const EXAMPLE_ENDPOINT: WebhookEndpoint = {
  id: '019aab7c-2222-7c55-9f0e-000000000001',
  url: 'https://app.example.com/webhooks/media',
  events: ['asset.ready', 'asset.failed'],
  description: 'Publishing',
  enabled: true,
  status: 'enabled',
  paused_reason: null,
  paused_at: null,
  failing_since: null,
  previous_secret_expires_at: null,
  created_at: '2026-11-22T10:00:00.000Z',
  updated_at: '2026-11-22T10:00:00.000Z',
};

export const EXAMPLE_ENDPOINT_WITH_SECRET: WebhookEndpointWithSecret = {
  ...EXAMPLE_ENDPOINT,
  secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwGhvFr3Vn6dU=',
};

export const EXAMPLE_ATTEMPT: DeliveryAttempt = {
  at: '2026-11-22T10:16:12.000Z',
  status: 200,
  latency_ms: 41,
  response_head: 'ok',
  error: null,
};

export const EXAMPLE_ENDPOINT_DELIVERY: EndpointDelivery = {
  id: '019aab7c-7777-7c55-9f0e-000000000003',
  event_id: '019aab7c-6b1e-7d02-8c4f-2a1b3c4d5e6f',
  type: 'asset.ready',
  asset_id: EXAMPLE_ASSET.id,
  state: 'delivered',
  attempts: [EXAMPLE_ATTEMPT],
  next_attempt_at: null,
  created_at: '2026-11-22T10:16:12.000Z',
  completed_at: '2026-11-22T10:16:12.000Z',
};
