// Receives every event of a service, by an event stream that resumes and by a webhook endpoint, while the
// service is killed.
import { createMediary } from '@mediary/client';
import { asService, call, SECRETS } from '../service.ts';
import { type ReceivedWebhook, startWebhookReceiver } from '../http/webhook-receiver.ts';

type DeliveredEvent = Pick<ReceivedWebhook['message'], 'id' | 'asset_id'>;

export type EventLedger = {
  /** Ids of the streamed events, in the order in which they arrived. */
  readonly streamed: readonly string[];
  /** Each request to the endpoint. */
  readonly delivered: () => readonly DeliveredEvent[];
  readonly close: () => Promise<void>;
};

/** Resolves when the stream is open and the endpoint exists. */
export async function openEventLedger(service: { readonly url: string }): Promise<EventLedger> {
  const receiver = await startWebhookReceiver();
  const { status } = await call(service, 'POST /webhook-endpoints', {
    headers: asService,
    json: { url: receiver.url('/all') },
  });
  if (status !== 200) throw new Error(`the endpoint was refused with ${status}`);
  const stop = new AbortController();
  const streamed: string[] = [];
  const mediary = createMediary({
    baseUrl: new URL(service.url).origin,
    serviceKey: SECRETS.SERVICE_API_KEY,
  });
  const reading = (async () => {
    for await (const { id } of mediary.events.stream({ signal: stop.signal, lastEventId: FIRST }))
      streamed.push(id);
  })().catch((error: unknown) => {
    if (!stop.signal.aborted) throw error;
  });
  return {
    streamed,
    delivered: () => receiver.received('/all').map(({ message }) => message),
    close: async () => {
      stop.abort();
      await reading;
      await receiver.stop();
    },
  };
}

/** Before every event. */
const FIRST = '0-00000000-0000-0000-0000-000000000000';
