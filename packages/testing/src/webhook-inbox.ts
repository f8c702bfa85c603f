// Receives the webhooks of the service, verifies them, and passes them on to the application.
import { EventEmitter, once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import {
  type EventMessage,
  isMediaryError,
  type PublishedEventType,
  verifyWebhook,
  type WebhookEvent,
} from '@mediary/client';
import { createWebhookSecret, signWebhook } from '@mediary/service/events/endpoints/webhook-signature';
import { startLocalServer } from './local-server.ts';

type Handler = (request: Request) => Response | Promise<Response>;

export type Webhooks = {
  /** With it the application verifies what it gets: `WEBHOOK_SECRET`, or however it names it. */
  readonly secret: string;
  /** The events that arrived, in their order. With `forwardTo`: those that the application accepted. */
  readonly received: readonly WebhookEvent[];
  /**
   * Sends each webhook to the application, whose status is the response to the service. `handler`: called
   * instead of the network, such as `app.fetch` of Hono.
   */
  forwardTo(url: string, handler?: Handler): void;
};

export type WebhookLoss = {
  /** Default: of any type. */
  readonly type?: PublishedEventType | undefined;
  /** Attempts that are lost, one after the other. Default 1; `Infinity`: until `faults.clear()`. */
  readonly times?: number | undefined;
};

type DeliveryResult = 'accepted' | 'lost' | `refused with ${number}`;
export type ReceivedDelivery = { readonly event: WebhookEvent; readonly result: DeliveryResult };
type EventFilter = { readonly type: PublishedEventType; readonly assetId?: string | undefined };

export type WebhookInbox = {
  readonly url: string;
  readonly webhooks: Webhooks;
  /** Every attempt of a delivery. */
  readonly deliveries: readonly ReceivedDelivery[];
  /** Sets the secret of the endpoint, which the service makes. */
  expect(endpointSecret: string): void;
  lose(loss: WebhookLoss): void;
  clearLosses(): void;
  /** Resolves with the first matching event that no earlier call has returned. */
  take(filter: EventFilter, signal: AbortSignal): Promise<EventMessage>;
  stop(): Promise<void>;
};

/** A moved clock of the service signs with times of the future. */
const ANY_TIME_S = Number.MAX_SAFE_INTEGER;
/** As the service waits for a response. */
const FORWARD_TIMEOUT_MS = 15_000;
const BAD_GATEWAY = 502;
const GATEWAY_TIMEOUT = 504;
const UNAUTHORIZED = 401;

const createState = () => ({
  endpointSecret: '',
  secret: createWebhookSecret(),
  target: undefined as { readonly url: string; readonly handler: Handler } | undefined,
  losses: [] as { readonly type: string | undefined; left: number }[],
  deliveries: [] as ReceivedDelivery[],
  received: [] as WebhookEvent[],
  taken: new Set<WebhookEvent>(),
  arrivals: new EventEmitter(),
});
type InboxState = ReturnType<typeof createState>;

export async function startWebhookInbox(): Promise<WebhookInbox> {
  const state = createState();
  // Each waiting call has a listener.
  state.arrivals.setMaxListeners(0);
  const { url, stop } = await startLocalServer((request, response) => handle(state, request, response));
  return {
    url,
    deliveries: state.deliveries,
    webhooks: {
      secret: state.secret.reveal(),
      received: state.received,
      forwardTo: (target, handler = fetch) => {
        state.target = { url: target, handler };
      },
    },
    expect: (endpointSecret) => {
      state.endpointSecret = endpointSecret;
    },
    lose: ({ type, times = 1 }) => void state.losses.push({ type, left: times }),
    clearLosses: () => void state.losses.splice(0),
    take: (filter, signal) => takeEvent(state, filter, signal),
    stop,
  };
}

async function handle(state: InboxState, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const body = await text(request);
  const { headers } = request;
  const secrets = state.endpointSecret;
  const event = await verifyWebhook({ payload: body, headers, secrets, toleranceS: ANY_TIME_S }).catch(
    (error: unknown) => {
      if (!isMediaryError(error)) throw error;
      return undefined;
    },
  );
  if (!event) return void response.writeHead(UNAUTHORIZED).end();
  if (takeLoss(state, event.type)) {
    state.deliveries.push({ event, result: 'lost' });
    // A closed connection would not do: the service sends a request again that a reused one has lost.
    return void response.writeHead(GATEWAY_TIMEOUT).end();
  }
  const status = state.target ? await forward(state, { id: event.id, body }) : 204;
  const isAccepted = status >= 200 && status < 300;
  state.deliveries.push({ event, result: isAccepted ? 'accepted' : `refused with ${status}` });
  if (isAccepted) {
    state.received.push(event);
    state.arrivals.emit('arrival');
  }
  response.writeHead(status).end();
}

function takeLoss({ losses }: InboxState, type: string): boolean {
  const loss = losses.find((each) => each.left > 0 && (each.type ?? type) === type);
  if (loss) loss.left -= 1;
  return loss !== undefined;
}

/** Signed again at the time of the application, which knows no moved clock. */
async function forward(
  { target, secret }: InboxState,
  { id, body }: { readonly id: string; readonly body: string },
): Promise<number> {
  if (!target) return BAD_GATEWAY;
  const request = new Request(target.url, {
    method: 'POST',
    body,
    redirect: 'manual',
    headers: { 'content-type': 'application/json', ...signWebhook({ id, at: new Date(), body }, [secret]) },
    signal: AbortSignal.timeout(FORWARD_TIMEOUT_MS),
  });
  try {
    const response = await target.handler(request);
    await response.body?.cancel();
    return response.status;
  } catch {
    return BAD_GATEWAY;
  }
}

async function takeEvent(state: InboxState, filter: EventFilter, signal: AbortSignal): Promise<EventMessage> {
  for (;;) {
    const event = state.received.find(
      (each): each is EventMessage =>
        each.type === filter.type &&
        (filter.assetId ?? each.asset_id) === each.asset_id &&
        !state.taken.has(each),
    );
    if (event) {
      state.taken.add(event);
      return event;
    }
    await once(state.arrivals, 'arrival', { signal });
  }
}
