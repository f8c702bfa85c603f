// The webhooks that the service sends, each type with its payload: `webhooks` of the OpenAPI document.
import { type TProperties, Type } from 'typebox';
import { EVENT_SOURCES, PUBLISHED_EVENT_TYPES, type PublishedEventType } from '../enums.ts';
import { EventMessage, EXAMPLE_EVENT } from '../schemas/events.ts';
import { type Components, type JsonSchema, withReferences } from './references.ts';

const source = Type.Optional(Type.Enum([...EVENT_SOURCES], { description: 'Who caused the event.' }));
const fields = Type.Array(Type.String(), { description: 'The changed members of the asset.' });

/** Event type → when it is sent, and the members of `data`. Members may be added. */
const EVENTS: Readonly<Record<PublishedEventType, { readonly when: string; readonly data: TProperties }>> = {
  'asset.created': { when: 'An asset was created.', data: {} },
  'asset.uploaded': {
    when: 'The bytes of an asset are stored.',
    data: { size_bytes: Type.Optional(Type.Integer()) },
  },
  'asset.processing': { when: 'Processing has started, or a new attempt.', data: {} },
  'asset.playable': { when: 'The first rendition can play.', data: {} },
  'asset.progress': {
    when: 'Encoding or an import has advanced; sent at intervals.',
    data: {
      progress: Type.Optional(Type.Integer({ description: 'Percent of the encoding.' })),
      bytes: Type.Optional(Type.Integer({ description: 'Bytes of an import.' })),
      total_bytes: Type.Optional(Type.Union([Type.Integer(), Type.Null()])),
      step: Type.Optional(Type.String({ description: '`download` or `transfer` of an import.' })),
    },
  },
  'asset.ready': { when: 'The asset is ready.', data: {} },
  'asset.failed': {
    when: 'The attempt has failed.',
    data: { code: Type.Optional(Type.String({ description: '`failure.code`.' })) },
  },
  'asset.updated': {
    when: 'Members of the asset have changed.',
    data: { fields: Type.Optional(fields), reason: Type.Optional(Type.String()) },
  },
  'asset.deleted': {
    when: 'The asset was deleted.',
    data: {
      restorable: Type.Optional(Type.Boolean({ description: 'True: the asset is in the trash.' })),
    },
  },
  'asset.restored': { when: 'The asset came back from the trash.', data: {} },
};

/** `asset.ready` → `AssetReadyEvent`. */
const nameOf = (type: PublishedEventType): string =>
  `${type.replace(/(?:^|\.)([a-z])/g, (_, letter: string) => letter.toUpperCase())}Event`;

const schemaOf = (type: PublishedEventType) =>
  Type.Object(
    {
      ...EventMessage.properties,
      type: Type.Literal(type),
      data: Type.Object({ source, ...EVENTS[type].data }, { additionalProperties: true }),
    },
    { $id: nameOf(type), description: EVENTS[type].when },
  );

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

export const renderWebhooks = (components: Components): JsonSchema =>
  Object.fromEntries(
    PUBLISHED_EVENT_TYPES.map((type) => [
      type,
      {
        post: {
          operationId: `receive${nameOf(type)}`,
          tags: ['Webhooks'],
          summary: type,
          description: `${EVENTS[type].when} Verify the signature before you use the body.`,
          security: [],
          parameters,
          requestBody: {
            required: true,
            content: {
              'application/json': {
                schema: withReferences(schemaOf(type), components),
                example: { ...EXAMPLE_EVENT, type },
              },
            },
          },
          responses: {
            '2XX': { description: 'Accepts the event. Any other response is retried.' },
            410: { description: 'Pauses the endpoint.' },
          },
        },
      },
    ]),
  );
