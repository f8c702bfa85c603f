// Tests with a real database and real requests that endpoints do not delay each other, and takeovers.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest';
import { type EndpointStore, openEndpointStore } from '../../../../test/support/store/endpoint-store.ts';
import { startTestPostgres, type TestPostgres } from '../../../../test/support/postgres/postgres.ts';
import {
  blackHole,
  startWebhookReceiver,
  type WebhookReceiver,
} from '../../../../test/support/http/webhook-receiver.ts';
import { startDeliverySender } from './delivery-sender.ts';
import { createWebhookClient } from './webhook-request.ts';

let server: TestPostgres;
let store: EndpointStore;
let receiver: WebhookReceiver;
beforeAll(async () => {
  server = await startTestPostgres();
  store = await openEndpointStore(server);
  receiver = await startWebhookReceiver();
});
afterAll(async () => {
  await receiver.stop();
  await store.close();
  await server.stop();
});
beforeEach(() => store.reset());

const TIMEOUT_MS = 15_000;

/** A process that sends; `wake` stands for the notification of an event. */
function start() {
  const sender = startDeliverySender(store.ctx, createWebhookClient(store.ctx));
  onTestFinished(sender.stop);
  return sender;
}

const events = (count: number, type: string) =>
  Array.from({ length: count }, () => ({ asset: randomUUID(), type }));

test('a black hole with 1,000 waiting deliveries does not delay another endpoint', async () => {
  receiver.respond('/hole', blackHole);
  await store.createEndpoint({ url: receiver.url('/hole'), events: ['asset.created'] });
  await store.addEvents(events(1000, 'asset.created'));
  const sender = start();
  await expect.poll(() => receiver.received('/hole').length, { timeout: 20_000 }).toBe(8);
  await store.createEndpoint({ url: receiver.url('/quick'), events: ['asset.ready'] });
  const begin = performance.now();
  await store.addEvents(events(40, 'asset.ready'));
  sender.wake();
  await expect.poll(() => receiver.received('/quick').length, { timeout: TIMEOUT_MS }).toBe(40);
  // The black hole still holds all its requests.
  expect(performance.now() - begin).toBeLessThan(TIMEOUT_MS / 2);
  expect(receiver.received('/hole')).toHaveLength(8);
});

test('a process that stops gives its deliveries to another at once', async () => {
  receiver.respond('/slow', blackHole);
  await store.createEndpoint({ url: receiver.url('/slow') });
  await store.addEvents(events(1, 'asset.ready'));
  const first = start();
  await expect.poll(() => receiver.received('/slow').length, { timeout: 10_000 }).toBe(1);
  await first.stop();
  receiver.respond('/slow', (response) => response.writeHead(204).end());
  start();
  await expect.poll(() => receiver.received('/slow').length, { timeout: 10_000 }).toBe(2);
  await expect.poll(async () => (await store.states())[0]?.['state']).toBe('delivered');
  const [before, after] = receiver.received('/slow').map(({ headers }) => headers['webhook-id']);
  expect(after).toBe(before);
});
