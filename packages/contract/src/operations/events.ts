// Live events of one asset, of an owner, or of all owners, as server-sent events.
import { bytesOperation, type ErrorCase, jsonOperation } from '../operation.ts';
import {
  AssetEventsQuery,
  CreateEventTicketRequest,
  EventMessage,
  EventsQuery,
  EventTicket,
  EXAMPLE_EVENT,
  EXAMPLE_EVENT_TICKET,
} from '../schemas/events.ts';
import { ASSET_ERRORS } from './media.ts';

const STREAM_ERRORS: readonly ErrorCase[] = [
  { code: 'UNAUTHORIZED', reason: 'invalid_credential', when: 'The event ticket is not valid.' },
  { code: 'BAD_REQUEST', reason: 'invalid_cursor', when: 'The position is not one of this feed.' },
  { code: 'RATE_LIMITED', reason: 'too_many_streams', when: 'The caller has too many open streams.' },
  { code: 'UNAVAILABLE', reason: 'busy', when: 'The process has too many open streams.' },
];

const DESCRIPTION =
  'The stream starts now, or after `Last-Event-ID`. Each event has `id`, its position in the feed; ' +
  '`event`, its type; and `data`, an `EventMessage` as JSON. The first block has an `id` and no `data`: ' +
  'a position to resume from before any event has arrived. A comment and the position follow every 15 s. ' +
  'The service ends a stream when it stops, when the client reads too slowly, and after ' +
  '`EVENT_STREAM_MAX_S`. Connect again with the last `id`; no event is missed or repeated. Browsers read ' +
  'the stream with `fetch`, or with `EventSource` and a `ticket` of `createEventTicket` in the URL.';

const STREAM = {
  kind: 'bytes',
  acceptsEventTickets: true,
  tag: 'Events',
  auth: 'caller',
  requestHeaders: ['Last-Event-ID'],
  response: {
    mediaTypes: ['text/event-stream'],
    description: 'The events; the response does not end.',
    event: { data: EventMessage, example: EXAMPLE_EVENT },
  },
} as const;

export const streamAssetEvents = bytesOperation({
  acceptsUploadTokens: true,
  ...STREAM,
  id: 'streamAssetEvents',
  method: 'GET',
  path: '/api/v1/media/{id}/events',
  summary: 'Stream the events of an asset',
  description: DESCRIPTION,
  query: AssetEventsQuery,
  errors: [...STREAM_ERRORS, ...ASSET_ERRORS],
});

export const streamEvents = bytesOperation({
  ...STREAM,
  id: 'streamEvents',
  method: 'GET',
  path: '/api/v1/events',
  summary: 'Stream the events of an owner',
  description: `A service caller names the owner, or receives all events. ${DESCRIPTION}`,
  query: EventsQuery,
  errors: STREAM_ERRORS,
});

export const createEventTicket = jsonOperation({
  id: 'createEventTicket',
  method: 'POST',
  path: '/api/v1/events/ticket',
  tag: 'Events',
  auth: 'caller',
  scope: 'read',
  summary: 'Create an event ticket',
  description:
    'For the `EventSource` of browsers, which cannot send credentials in a header. For 60 s the ticket ' +
    'opens event streams of one owner, and nothing else: `url`, or `/api/v1/media/{id}/events?ticket=…`. ' +
    'It expires earlier when the access token or the named service key that created it does. An open ' +
    'stream continues after that. `EventSource` reconnects with the same URL: after the ticket has expired ' +
    'it gets 401 and closes; then create a new ticket and continue with `last_event_id`.',
  body: CreateEventTicketRequest,
  message: 'Event ticket',
  data: EventTicket,
  example: EXAMPLE_EVENT_TICKET,
});
