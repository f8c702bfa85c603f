// The webhooks that the service sends, each type with its payload: `webhooks` of the OpenAPI document.
import { EventMessage, EXAMPLE_EVENT } from '../schemas/events.ts';
import { type Components, type JsonSchema, withReferences } from './references.ts';

const HEADERS = {
  'webhook-id': 'Id of the event; a repeated delivery has the same one.',
  'webhook-timestamp': 'Seconds since 1970 of this delivery.',
  'webhook-signature': '`v1,<base64>`: HMAC-SHA256 of `<id>.<timestamp>.<body>` (Standard Webhooks).',
};

const parameters = Object.entries(HEADERS).map(([name, description]) => ({
  name,
  in: 'header',
  required: true,
  description,
  schema: { type: 'string' },
}));

type EventSchema = {
  readonly $id: string;
  readonly description: string;
  readonly properties: { readonly type: { readonly const: string } };
};
const EVENTS = EventMessage.anyOf as unknown as readonly EventSchema[];

const renderWebhook = (schema: EventSchema, components: Components) => ({
  operationId: `receive${schema.$id}`,
  tags: ['Webhooks'],
  summary: schema.properties.type.const,
  description: `${schema.description} Verify the signature before you use the body.`,
  security: [],
  parameters,
  requestBody: {
    required: true,
    content: {
      'application/json': {
        schema: withReferences(schema, components),
        example: { ...EXAMPLE_EVENT, type: schema.properties.type.const },
      },
    },
  },
  responses: {
    '2XX': { description: 'Accepts the event. Any other response is retried.' },
    410: { description: 'Pauses the endpoint.' },
  },
});

export const renderWebhooks = (components: Components): JsonSchema =>
  Object.fromEntries(
    EVENTS.map((schema) => [schema.properties.type.const, { post: renderWebhook(schema, components) }]),
  );
