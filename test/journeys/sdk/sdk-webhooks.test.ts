// Webhook endpoints through the SDK: every call against the real routes, and the webhooks that arrive.
import { createMediary, type Mediary, verifyWebhook } from '@mediary/client';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startOutbound } from '../../support/providers/outbound-webhooks.ts';
import { eventually, SECRETS } from '../../support/service.ts';
import type { ReceivedWebhook } from '../../support/http/webhook-receiver.ts';

let outbound: Awaited<ReturnType<typeof startOutbound>>;
let endpoints: Mediary['webhookEndpoints'];
beforeAll(async () => {
  outbound = await startOutbound();
  const { address: baseUrl } = outbound.service;
  endpoints = createMediary({ baseUrl, serviceKey: SECRETS.SERVICE_API_KEY }).webhookEndpoints;
});
afterAll(() => outbound.stop());

const verify = ({ body: payload, headers }: ReceivedWebhook, secrets: string | string[]) =>
  verifyWebhook({ payload, headers, secrets });
const arrived = async (path: string, count: number): Promise<ReceivedWebhook> => {
  const all = await outbound.received(path, (seen) => seen.length >= count);
  expect(all).toHaveLength(count);
  return all[count - 1] as ReceivedWebhook;
};
const collect = async <T>(list: AsyncIterable<T>): Promise<T[]> => {
  const items: T[] = [];
  for await (const item of list) items.push(item);
  return items;
};

test('endpoints are created, listed, changed and deleted', async () => {
  const url = outbound.receiver.url('/edited');
  const created = await Promise.all(
    [1, 2, 3].map((count) => endpoints.create({ url, description: `${count}` })),
  );
  const ids = created.map(({ id }) => id).sort();
  expect((await collect(endpoints.list({ limit: 2 }))).map(({ id }) => id)).toEqual([...ids].reverse());
  const [id = ''] = ids;
  const changed = await endpoints.update(id, { events: ['asset.ready'], description: null, enabled: false });
  expect(changed).toMatchObject({ id, url, events: ['asset.ready'], description: null, status: 'disabled' });
  expect(await endpoints.get(id)).toEqual(changed);
  for (const each of ids) expect(await endpoints.delete(each)).toEqual({ id: each, deleted: true });
  await expect(endpoints.get(id)).rejects.toMatchObject({ errorCode: 'NOT_FOUND' });
  await expect(endpoints.create({ url: 'ftp://example.com/' })).rejects.toMatchObject({
    reason: 'url_scheme',
  });
});

test('a test event verifies with the new and the previous secret', async () => {
  const { id, secret: previous } = await endpoints.create({ url: outbound.receiver.url('/tested') });
  const { secret, previous_secret_expires_at: expiry } = await endpoints.rotateSecret(id);
  expect([secret === previous, typeof expiry]).toEqual([false, 'string']);
  const { event_id, delivered, attempt } = await endpoints.test(id);
  expect({ delivered, status: attempt.status }).toEqual({ delivered: true, status: 204 });
  const webhook = await arrived('/tested', 1);
  for (const each of [previous, secret])
    expect(await verify(webhook, each)).toMatchObject({ id: event_id, type: 'webhook.test', asset: null });
});

test('events are delivered, listed and sent again', async () => {
  const since = new Date().toISOString();
  const asset = await outbound.ingestPicture();
  const { id, secret } = await endpoints.create({ url: outbound.receiver.url('/resent') });
  await outbound.editTitle(asset.id, 'once');
  const event = await verify(await arrived('/resent', 1), secret);
  expect(event).toMatchObject({ type: 'asset.updated', asset_id: asset.id, asset: { title: 'once' } });
  const [delivery] = await eventually(
    () => collect(endpoints.deliveries(id, { state: 'delivered', limit: 1 })),
    (found) => found.length === 1,
  );
  expect(delivery).toMatchObject({ event_id: event.id, type: event.type, attempts: [{ status: 204 }] });

  const again = await endpoints.resend(id, delivery?.id ?? '');
  expect(again).toMatchObject({ event_id: event.id, state: 'pending' });
  expect(await verify(await arrived('/resent', 2), secret)).toMatchObject({ id: event.id });
  const result = await endpoints.resendEvents(id, { since, types: ['asset.created', 'asset.ready'] });
  expect(result).toEqual({ scheduled: 2, next_since: null });
  expect(await verify(await arrived('/resent', 4), secret)).toMatchObject({ type: 'asset.ready' });
  const page = await endpoints.deliveries(id, { limit: 3 }).page();
  const rest = await endpoints.deliveries(id, { cursor: page.next_cursor ?? '' }).page();
  expect([page.items.length, rest.items.map((each) => each.id)]).toEqual([3, [delivery?.id]]);
});
