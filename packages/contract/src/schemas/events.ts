// Events that subscribers receive: streams and outbound webhooks.
import { type Static, Type } from 'typebox';
import { PUBLISHED_EVENT_TYPES } from '../enums.ts';
import { Asset, EXAMPLE_ASSET } from './asset.ts';
import { AssetId, nullable, OwnerUserId, Timestamp } from './common.ts';

/** The `data` of a stream event, and the body of an outbound webhook. */
export const EventMessage = Type.Object(
  {
    id: Type.String({ description: 'Id of the event; repeated deliveries have the same id.' }),
    type: Type.Enum([...PUBLISHED_EVENT_TYPES]),
    at: Timestamp,
    asset_id: AssetId,
    owner_user_id: Type.String(),
    attempt: nullable(Type.Integer()),
    data: Type.Object({}, { additionalProperties: true, description: 'Details of the event.' }),
    /** As it is when the event is sent; null if it no longer exists. */
    asset: nullable(Asset),
  },
  { $id: 'EventMessage' },
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
