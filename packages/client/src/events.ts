// Live events of assets: a stream that connects again where it broke.
import type { AssetEvent, EventMessage } from './api/events.ts';
import { isTransient, retryDelayMs, sleep } from './backoff.ts';
import { ConnectionError, MediaryError, TimeoutError } from './errors.ts';
import { createEventParser } from './event-stream.ts';
import { receive, toError } from './response.ts';
import type { ApiRequest, CallOptions, Transport } from './transport.ts';

declare const isUnknownType: unique symbol;

/** An event of a type that a later service sends. The mark lets `switch (event.type)` tell it apart. */
export type UnknownEvent = AssetEvent & {
  type: `${string}.${string}` & { readonly [isUnknownType]: true };
  data: Record<string, unknown>;
};

/** `position`: pass it as `lastEventId` to continue after this event. */
export type StreamedEvent = (EventMessage | UnknownEvent) & { position: string };

export type EventStreamOptions = Pick<CallOptions, 'signal' | 'ownerUserId'> & {
  /**
   * `position` of the last event that you have handled: the stream continues after it. `beginning`: from the
   * first stored event.
   */
  lastEventId?: string | undefined;
};

/** The service sends a comment every 15 s. */
const HEARTBEAT_MS = 45_000;

/**
 * `position`: to continue after; undefined when the stream has just opened: what happens from now on is
 * received. The service sends positions without events too.
 */
type StreamItem = { readonly position: string | undefined; readonly event?: StreamedEvent };

/** Events without end; throws what another connection cannot mend, and the reason of the signal. */
export async function* followEvents(
  transport: Transport,
  path: string,
  options: EventStreamOptions = {},
): AsyncGenerator<StreamedEvent, void, void> {
  const { signal } = options;
  let { lastEventId } = options;
  let wasExpired = false;
  for (let failures = 0; ; failures += 1) {
    let failure: unknown;
    try {
      for await (const item of streamEvents(transport, path, { ...options, lastEventId })) {
        wasExpired = false;
        if (item.position === undefined) continue;
        failures = 0;
        lastEventId = item.position;
        if (item.event) yield item.event;
      }
    } catch (error) {
      signal?.throwIfAborted();
      const isExpired = transport.canRenewToken(error);
      // The token source returned two expired tokens in a row: a third one would not help.
      if (!isTransient(error) && (!isExpired || wasExpired)) throw error;
      wasExpired = isExpired;
      failure = error;
    }
    await sleep(retryDelayMs(failures, failure), signal);
  }
}

/** One connection; returns when the service ends it. */
export async function* streamEvents(
  transport: Transport,
  path: string,
  { signal: outer, lastEventId, ownerUserId }: EventStreamOptions,
): AsyncGenerator<StreamItem> {
  outer?.throwIfAborted();
  const controller = new AbortController();
  const abort = (): void => controller.abort(outer?.reason);
  outer?.addEventListener('abort', abort, { once: true });
  let timer: ReturnType<typeof setTimeout> | undefined;
  const beat = (): void => {
    clearTimeout(timer);
    const late = new TimeoutError(`The event stream was silent for ${HEARTBEAT_MS / 1000} s.`);
    timer = setTimeout(() => controller.abort(late), HEARTBEAT_MS);
  };
  beat();
  try {
    const headers = { accept: 'text/event-stream', ...(lastEventId && { 'last-event-id': lastEventId }) };
    const query = { owner_user_id: ownerUserId ?? transport.ownerUserId };
    const body = await openStream(transport, { method: 'GET', path, headers, query }, controller.signal);
    yield { position: undefined };
    yield* readEvents(body, beat);
  } catch (error) {
    if (controller.signal.aborted) throw controller.signal.reason;
    throw error;
  } finally {
    clearTimeout(timer);
    outer?.removeEventListener('abort', abort);
    controller.abort();
  }
}

async function openStream(transport: Transport, request: ApiRequest, signal: AbortSignal) {
  const response = await transport.open(request, signal);
  if (!response.ok) throw toError(await receive(response));
  if (response.body && response.headers.get('content-type')?.startsWith('text/event-stream'))
    return response.body;
  throw new MediaryError('The response is not an event stream. Check `baseUrl` and proxies.', {
    errorCode: 'INVALID_RESPONSE',
    status: response.status,
  });
}

async function* readEvents(body: ReadableStream<Uint8Array>, beat: () => void): AsyncGenerator<StreamItem> {
  const parser = createEventParser();
  const decoder = new TextDecoder();
  const reader = body.getReader();
  for (;;) {
    const { done, value } = await reader.read().catch((error: unknown) => {
      throw new ConnectionError('The event stream broke.', error);
    });
    if (done) return;
    beat();
    for (const { id, data } of parser.push(decoder.decode(value, { stream: true })))
      yield { position: id, event: { ...JSON.parse(data), position: id } };
    const position = parser.lastId();
    if (position !== '') yield { position };
  }
}
