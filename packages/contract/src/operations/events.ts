// Live events of one asset, of an owner, or of all owners, as server-sent events.
import { bytesOperation, type ErrorCase } from '../operation.ts';
import { AssetEventsQuery, EventMessage, EventsQuery, EXAMPLE_EVENT } from '../schemas/events.ts';
import { ASSET_ERRORS } from './media.ts';

const STREAM_ERRORS: readonly ErrorCase[] = [
  { code: 'BAD_REQUEST', reason: 'invalid_cursor', when: 'The position is not one of this feed.' },
  { code: 'RATE_LIMITED', reason: 'too_many_streams', when: 'The caller has too many open streams.' },
  { code: 'UNAVAILABLE', reason: 'busy', when: 'The process has too many open streams.' },
];

const DESCRIPTION =
  'The stream starts now, or after `Last-Event-ID`. Each event has `id`, its position in the feed; ' +
  '`event`, its type; and `data`, an `EventMessage` as JSON. The first block has an `id` and no `data`: ' +
  'a position to resume from before any event has arrived. A comment and the position follow every 15 s. ' +
  'The service ends a stream when it stops, when the client reads too slowly, and after ' +
  '`EVENT_STREAM_MAX_S`: connect again with the last `id`; no event is missed or repeated. Browsers read ' +
  'the stream with `fetch`, because `EventSource` cannot send credentials in a header.';

const STREAM = {
  kind: 'bytes',
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
  summary: 'Streams the events of an asset',
  description: DESCRIPTION,
  query: AssetEventsQuery,
  errors: [...STREAM_ERRORS, ...ASSET_ERRORS],
});

export const streamEvents = bytesOperation({
  ...STREAM,
  id: 'streamEvents',
  method: 'GET',
  path: '/api/v1/events',
  summary: 'Streams the events of all assets of an owner',
  description: `A service caller names the owner, or receives all events. ${DESCRIPTION}`,
  query: EventsQuery,
  errors: STREAM_ERRORS,
});
