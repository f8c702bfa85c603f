// Events that subscribers receive: streams and outbound webhooks.
import { type Static, type TProperties, Type } from 'typebox';
import { DELAY_REASONS, EVENT_SOURCES, type PublishedEventType } from '../enums.ts';
import { describeCodes } from '../failures.ts';
import { Asset, EXAMPLE_ASSET } from './assets/asset.ts';
import { AssetId, nullable, OwnerUserId, Timestamp } from './common.ts';

/** The members that the events of all types have. */
export const AssetEvent = Type.Object(
  {
    id: Type.String({ description: 'Id of the event; repeated deliveries have the same id.' }),
    at: Timestamp,
    asset_id: AssetId,
    owner_user_id: Type.String(),
    attempt: nullable(Type.Integer()),
    /** As it is when the event is sent; null if it no longer exists. */
    asset: nullable(Asset),
  },
  { $id: 'AssetEvent', description: 'The members that the events of all types have.' },
);

const source = Type.Optional(Type.Enum([...EVENT_SOURCES], { description: 'Who caused the event.' }));

/** `asset.ready` → `AssetReadyEvent`. */
const nameOf = (type: string): string =>
  `${type.replace(/(?:^|\.)([a-z])/g, (_, letter: string) => letter.toUpperCase())}Event`;

/** `when`: the service sends the event then. `details`: the members of `data`; more may be added. */
const event = <const Name extends PublishedEventType, Details extends TProperties>(
  type: Name,
  when: string,
  details: Details,
) => {
  const data = Type.Object(
    { source, ...details },
    { additionalProperties: true, description: 'Details of the event.' },
  );
  const { id, ...members } = AssetEvent.properties;
  return Type.Object(
    { id, type: Type.Literal(type), ...members, data },
    { $id: nameOf(type), description: when },
  );
};

/** The `data` of a stream event, and the body of an outbound webhook. */
export const EventMessage = Type.Union(
  [
    event('asset.created', 'An asset was created.', {}),
    event('asset.uploaded', 'The bytes of an asset are stored.', {
      size_bytes: Type.Optional(Type.Integer()),
    }),
    event('asset.processing', 'Processing has started, or a new attempt.', {}),
    event('asset.playable', 'The first rendition can play.', {}),
    event('asset.progress', 'Encoding or an import has advanced; sent at intervals.', {
      progress: Type.Optional(Type.Integer({ description: 'Percent of the encoding.' })),
      bytes: Type.Optional(Type.Integer({ description: 'Bytes of an import.' })),
      total_bytes: Type.Optional(nullable(Type.Integer())),
      step: Type.Optional(Type.String({ description: '`download` or `transfer` of an import.' })),
    }),
    event('asset.delayed', 'The asset is not ready when it was expected; sent once for each attempt.', {
      reason: Type.Optional(
        Type.String({
          description: `More may be added. ${describeCodes(DELAY_REASONS)}`,
          examples: ['waiting_for_slot'],
        }),
      ),
      message: Type.Optional(Type.String({ description: 'The reason as a sentence.' })),
      expected_latest_at: Type.Optional(
        Type.String({
          format: 'date-time',
          description: 'The end of the first `expected_ready_range`. Absent where none was stated.',
        }),
      ),
    }),
    event('asset.ready', 'The asset is ready.', {}),
    event('asset.failed', 'The attempt has failed.', {
      code: Type.Optional(Type.String({ description: '`failure.code`.' })),
      provider_code: Type.Optional(Type.String({ description: "The video provider's own code." })),
    }),
    event('asset.updated', 'Members of the asset have changed.', {
      fields: Type.Optional(Type.Array(Type.String(), { description: 'The changed members of the asset.' })),
      reason: Type.Optional(
        Type.String({
          description: '`playback_revoked`, `legal_hold_set` or `legal_hold_released`; more may be added.',
        }),
      ),
    }),
    event('asset.deleted', 'The asset was deleted.', {
      restorable: Type.Optional(Type.Boolean({ description: 'True: the asset is in the trash.' })),
      reason: Type.Optional(
        Type.String({
          description:
            '`expired`: its `expires_at` has passed. `trash_days`: its time in the trash has passed. ' +
            '`owner_erased`: an operator erases its owner. `took_over`: the asset that it replaced has its ' +
            'file. `replaced_again`: it had failed, and a caller ' +
            'replaces the file again. `replaced_asset_deleted`: that asset is gone. Absent: a caller ' +
            'deleted it.',
        }),
      ),
    }),
    event('asset.restored', 'The asset came back from the trash.', {}),
    event('asset.replaced', 'The asset has another file.', {
      replacement_id: Type.Optional(
        Type.String({ format: 'uuid', description: 'The replacement, which is deleted now.' }),
      ),
      restorable_until: Type.Optional(
        Type.String({
          format: 'date-time',
          description: 'Until when `rollback` can bring the other file back.',
        }),
      ),
      reason: Type.Optional(
        Type.String({ description: '`rolled_back`: a caller brought the previous file back.' }),
      ),
    }),
  ],
  {
    $id: 'EventMessage',
    discriminator: { propertyName: 'type' },
    description: 'An event; each type has its own `data`. Ignore types that you do not know.',
  },
);

export type EventMessage = Static<typeof EventMessage>;

export const EXAMPLE_EVENT: EventMessage = {
  id: '019aab7c-6b1e-7d02-8c4f-2a1b3c4d5e6f',
  type: 'asset.ready',
  at: '2026-11-22T10:16:12.000Z',
  asset_id: EXAMPLE_ASSET.id,
  owner_user_id: EXAMPLE_ASSET.owner_user_id,
  attempt: 1,
  data: { source: 'webhook' },
  asset: EXAMPLE_ASSET,
};

const LastEventId = Type.Optional(
  Type.String({
    maxLength: 64,
    description:
      'The `id` of the last event received; resumes after it. `Last-Event-ID` does the same. ' +
      '`beginning`: from the first event that is stored.',
  }),
);

const Ticket = Type.Optional(
  Type.String({ maxLength: 2000, description: 'A ticket of `createEventTicket`, instead of credentials.' }),
);

export const AssetEventsQuery = Type.Object({ last_event_id: LastEventId, ticket: Ticket });

export const EventsQuery = Type.Object({
  owner_user_id: OwnerUserId,
  last_event_id: LastEventId,
  ticket: Ticket,
});

export const CreateEventTicketRequest = Type.Object(
  { owner_user_id: OwnerUserId },
  { $id: 'CreateEventTicketRequest', examples: [{}] },
);

export const EventTicket = Type.Object(
  {
    ticket: Type.String({ description: 'Signed; opens event streams of the owner until `expires_at`.' }),
    expires_at: Timestamp,
    url: Type.String({ format: 'uri', description: 'The stream of the owner, with the ticket.' }),
  },
  { $id: 'EventTicket' },
);
export type EventTicket = Static<typeof EventTicket>;

export const EXAMPLE_EVENT_TICKET: EventTicket = {
  ticket: 'EXAMPLE-not-a-ticket-0123456789',
  expires_at: '2026-11-22T10:16:00.000Z',
  url: 'https://media.example.com/api/v1/events?ticket=EXAMPLE-not-a-ticket-0123456789',
};
