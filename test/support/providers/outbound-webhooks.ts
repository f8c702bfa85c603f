// A service that sends webhooks to a receiver on loopback, and the steps of its journeys.
import { IMAGE, offer, settled } from '../media.ts';
import { bombPng } from '../clips/pictures.ts';
import { type Answer, asService, asUser, call, eventually, startTestService } from '../service.ts';
import {
  type ReceivedWebhook,
  startWebhookReceiver,
  type WebhookReceiver,
} from '../http/webhook-receiver.ts';

export type EndpointJson = Record<string, unknown> & { readonly id: string; readonly secret: string };
export type AttemptJson = {
  readonly at: string;
  readonly status: number | null;
  readonly error: string | null;
  readonly response_head: string | null;
};
export type DeliveryJson = Record<string, unknown> & {
  readonly id: string;
  readonly attempts: readonly AttemptJson[];
};

/** WEBHOOK_ENDPOINT_MAX_COUNT of the service. */
export const MAX_ENDPOINTS = 12;

export async function startOutbound() {
  const receiver = await startWebhookReceiver();
  const service = await startTestService({
    OUTBOUND_ALLOW_PRIVATE: 'webhooks',
    WEBHOOK_ENDPOINT_RETRIES_S: '1,1',
    WEBHOOK_ENDPOINT_MAX_COUNT: String(MAX_ENDPOINTS),
    LOG_LEVEL: 'error',
  });
  const stop = async () => {
    await service.stop();
    await receiver.stop();
  };
  return { service, receiver, stop, ...stepsOf(service, receiver) };
}

/** `methodAndPath`: below `/webhook-endpoints`, such as `GET /{id}`. */
type Request = <T = EndpointJson>(
  methodAndPath: string,
  json?: unknown,
  headers?: Record<string, string>,
) => Promise<Answer<T>>;

function stepsOf(service: { readonly url: string }, receiver: WebhookReceiver) {
  const request: Request = (methodAndPath, json, headers = asService) =>
    call(service, methodAndPath.replace(' ', ' /webhook-endpoints'), {
      headers,
      ...(json !== undefined && { json }),
    });
  const deliveriesOf = async (id: string) =>
    (await request<{ items: DeliveryJson[] }>(`GET /${id}/deliveries`)).body.data.items;
  return {
    request,
    create: async (path: string, more: object = {}): Promise<EndpointJson> =>
      (await request('POST ', { url: receiver.url(path), ...more })).body.data,
    read: async (id: string) => (await request(`GET /${id}`)).body.data,
    deliveriesOf,
    /** Waits until every delivery has this state. */
    allDeliveries: (id: string, state: string) =>
      eventually(
        () => deliveriesOf(id),
        (found) => found.every((delivery) => delivery['state'] === state),
      ),
    received: (path: string, isEnough: (all: readonly ReceivedWebhook[]) => boolean) =>
      eventually(async () => receiver.received(path), isEnough, { withinMs: 20_000 }),
    /** A picture of ann that is ready. */
    ingestPicture: async () => {
      const { id } = await offer(service, 'ann', { bytes: bombPng(8, 8), fields: IMAGE });
      return settled(service, 'ann', id);
    },
    editTitle: (id: string, title: string) =>
      call(service, `PATCH /media/${id}`, { headers: asUser('ann'), json: { title } }),
  };
}

export const typesOf = (all: readonly ReceivedWebhook[]): string[] => all.map(({ message }) => message.type);
