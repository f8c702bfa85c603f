// Outbound webhooks: signatures, order, retries, pauses, rotation, test events and resends (contract B8).
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { expectFieldRefused, expectRefusal } from '../../support/http/envelope.ts';
import { freePort } from '../../support/http/free-port.ts';
import {
  type AttemptJson,
  type DeliveryJson,
  type EndpointJson,
  MAX_ENDPOINTS,
  startOutbound,
  typesOf,
} from '../../support/providers/outbound-webhooks.ts';
import { asUser, call, eventually } from '../../support/service.ts';
import { status, verifyWebhook } from '../../support/http/webhook-receiver.ts';

/** How many of these there are depends on the speed of the machine. */
const MACHINE_DEPENDENT = ['asset.progress', 'asset.playable', 'asset.delayed'];

let outbound: Awaited<ReturnType<typeof startOutbound>>;
beforeAll(async () => {
  outbound = await startOutbound();
});
afterAll(() => outbound?.stop());

describe('an endpoint', () => {
  test('gets the events of an asset in order, signed, with the asset as the API shows it', async () => {
    const { secret, id } = await outbound.create('/all', { description: 'Publishing' });
    const asset = await outbound.ingestPicture();
    const all = await outbound.received('/all', (seen) => typesOf(seen).includes('asset.ready'));
    const types = typesOf(all).filter((type) => !MACHINE_DEPENDENT.includes(type));
    expect(types).toEqual(['asset.created', 'asset.uploaded', 'asset.processing', 'asset.ready']);
    for (const webhook of all) {
      expect(verifyWebhook(secret, webhook)).toEqual(webhook.message);
      expect(webhook.headers['webhook-id']).toBe(webhook.message.id);
    }
    expect(all.at(-1)?.message).toMatchObject({
      asset_id: asset.id,
      owner_user_id: 'ann',
      attempt: 1,
      data: { source: 'service' },
      asset: { id: asset.id, stream_status: 'ready', kind: 'image' },
    });
    const deliveries = await outbound.allDeliveries(id, 'delivered');
    expect(deliveries[0]).toMatchObject({
      type: 'asset.ready',
      asset_id: asset.id,
      next_attempt_at: null,
      attempts: [{ status: 204, error: null, response_head: '' }],
    });
  });

  test('gets only the events that it asks for, and none from before it was created or enabled', async () => {
    const asset = await outbound.ingestPicture();
    const { id } = await outbound.create('/some', {
      events: ['asset.updated', 'asset.deleted'],
      enabled: false,
    });
    await outbound.editTitle(asset.id, 'unseen');
    expect((await outbound.request(`PATCH /${id}`, { enabled: true })).body.data).toMatchObject({
      status: 'enabled',
    });
    await outbound.editTitle(asset.id, 'seen');
    await call(outbound.service, `DELETE /media/${asset.id}`, { headers: asUser('ann') });
    const all = await outbound.received('/some', (seen) => seen.length >= 2);
    expect(typesOf(all)).toEqual(['asset.updated', 'asset.deleted']);
    expect(all[1]?.message).toMatchObject({ asset: { id: asset.id, deleted_at: expect.any(String) } });
  });

  test('that fails gets the event again with the same id, before the later events of the asset', async () => {
    const asset = await outbound.ingestPicture();
    let refusals = 2;
    outbound.receiver.respond('/flaky', (response, webhook) =>
      status(refusals-- > 0 ? 500 : 200, {}, `seen ${webhook.message.type}`)(response, webhook),
    );
    const { id, secret } = await outbound.create('/flaky');
    await outbound.editTitle(asset.id, 'first');
    await outbound.editTitle(asset.id, 'second');
    const all = await outbound.received('/flaky', (seen) => seen.length >= 4);
    const ids = all.map(({ headers }) => headers['webhook-id']);
    expect([ids[1], ids[2], ids[3] === ids[0]]).toEqual([ids[0], ids[0], false]);
    expect(new Set(all.map(({ headers }) => headers['webhook-timestamp'])).size).toBeGreaterThan(1);
    for (const webhook of all) verifyWebhook(secret, webhook);
    const [, first] = await outbound.allDeliveries(id, 'delivered');
    expect(first?.attempts.map((attempt) => [attempt.status, attempt.response_head])).toEqual([
      [500, 'seen asset.updated'],
      [500, 'seen asset.updated'],
      [200, 'seen asset.updated'],
    ]);
    expect(await outbound.read(id)).toMatchObject({ status: 'enabled', failing_since: null });
  });

  test('gets nothing for as long as Retry-After asks', async () => {
    const asset = await outbound.ingestPicture();
    outbound.receiver.respond('/busy', status(503, { 'retry-after': '7200' }));
    const { id } = await outbound.create('/busy');
    await outbound.editTitle(asset.id, 'later');
    const [delivery] = await eventually(
      () => outbound.deliveriesOf(id),
      ([first]) => first?.attempts.length === 1,
    );
    const waitMs =
      Date.parse(String(delivery?.['next_attempt_at'])) - Date.parse(delivery?.attempts[0]?.at ?? '');
    expect(Math.floor(waitMs / 60_000)).toBe(120);
  });

  test('that responds with 410 is paused, and enabling it again sends what is pending', async () => {
    const asset = await outbound.ingestPicture();
    const { id } = await outbound.create('/gone');
    outbound.receiver.respond('/gone', status(410));
    await outbound.editTitle(asset.id, 'gone');
    const paused = await eventually(
      () => outbound.read(id),
      ({ status: now }) => now !== 'enabled',
    );
    expect(paused).toMatchObject({ enabled: false, status: 'paused', paused_reason: 'gone' });
    await outbound.editTitle(asset.id, 'missed');
    expect((await outbound.deliveriesOf(id)).map(({ state }) => state)).toEqual(['failed']);
    outbound.receiver.respond('/gone', status(200));
    expect((await outbound.request(`PATCH /${id}`, { enabled: true })).body.data).toMatchObject({
      status: 'enabled',
      paused_reason: null,
      paused_at: null,
    });
    await outbound.editTitle(asset.id, 'back');
    const all = await outbound.received('/gone', (seen) => seen.length >= 2);
    expect(all[1]?.message['asset']).toMatchObject({ title: 'back' });
  });
});

describe('secrets', () => {
  test('are shown once, and after a rotation both sign', async () => {
    const { id, secret: first } = await outbound.create('/rotated');
    expect(Object.keys(await outbound.read(id))).not.toContain('secret');
    const rotated = (await outbound.request(`POST /${id}/rotate-secret`)).body.data;
    expect(rotated).toMatchObject({ previous_secret_expires_at: expect.any(String) });
    expect(rotated.secret).toMatch(/^whsec_/);
    const { body } = await outbound.request<{ delivered: boolean; event_id: string; attempt: AttemptJson }>(
      `POST /${id}/test`,
    );
    expect(body.data).toMatchObject({ delivered: true, attempt: { status: 204, error: null } });
    const [webhook] = outbound.receiver.received('/rotated');
    if (!webhook) throw new Error('the test event did not arrive');
    expect(webhook.headers['webhook-signature']?.split(' ')).toHaveLength(2);
    expect(verifyWebhook(first, webhook)).toEqual(verifyWebhook(rotated.secret, webhook));
    expect(webhook.message).toMatchObject({ type: 'webhook.test', id: body.data.event_id, asset: null });
  });

  test('a test event to an endpoint that does not listen says why', async () => {
    const url = `http://127.0.0.1:${await freePort()}/`;
    const { id } = (await outbound.request('POST ', { url, enabled: false })).body.data;
    const { data } = (
      await outbound.request<{ delivered: boolean; attempt: AttemptJson }>(`POST /${id}/test`)
    ).body;
    expect(data).toMatchObject({
      delivered: false,
      attempt: { status: null, error: 'connect_failed: ECONNREFUSED', response_head: null },
    });
  });
});

describe('resending', () => {
  test('one delivery, and a range of events with types', async () => {
    const since = new Date().toISOString();
    const asset = await outbound.ingestPicture();
    const { id } = await outbound.create('/resent');
    await outbound.editTitle(asset.id, 'once');
    await outbound.received('/resent', (seen) => seen.length === 1);
    const [delivery] = await outbound.allDeliveries(id, 'delivered');
    const again = await outbound.request<DeliveryJson>(`POST /${id}/deliveries/${delivery?.id}/resend`);
    expect(again.body.data).toMatchObject({ event_id: delivery?.['event_id'], state: 'pending' });
    expect(again.body.data.id).not.toBe(delivery?.id);
    const [first, second] = await outbound.received('/resent', (seen) => seen.length === 2);
    expect(second?.headers['webhook-id']).toBe(first?.headers['webhook-id']);
    const range = await outbound.request(`POST /${id}/resend`, {
      since,
      types: ['asset.created', 'asset.ready'],
    });
    expect(range.body.data).toEqual({ scheduled: 2, next_since: null });
    const all = await outbound.received('/resent', (seen) => seen.length === 4);
    expect(typesOf(all.slice(2))).toEqual(['asset.created', 'asset.ready']);
  });
});

describe('refusals', () => {
  test('users may not manage endpoints', async () => {
    expectRefusal(await outbound.request('GET ', undefined, asUser('ann')), 403);
    expectRefusal(await outbound.request('POST ', {}, asUser('ann')), 403);
    expectRefusal(await outbound.request('GET ', undefined, {}), 401);
  });

  test.each([
    ['ftp://example.com/', 'url_scheme'],
    ['https://user:pass@example.com/', 'url_credentials'],
    ['https://example.com:25/', 'url_port'],
    ['http://169.254.169.254/latest/', 'url_private_address'],
    ['/webhooks', 'url_invalid'],
  ])('the URL %s is refused: %s', async (url, reason) => {
    const refused = await outbound.request('POST ', { url });
    expect(expectRefusal(refused, 400).details).toMatchObject({ field: 'url', reason });
  });

  test('unknown event types and members are refused with what is allowed', async () => {
    const unknownType = await outbound.request('POST ', {
      url: outbound.receiver.url('/x'),
      events: ['asset.gone'],
    });
    expect(expectRefusal(unknownType, 400).details).toMatchObject({
      field: 'events.0',
      allowed: expect.arrayContaining(['asset.ready']),
    });
    const { id } = await outbound.create('/refusals');
    expectFieldRefused(await outbound.request(`PATCH /${id}`, { secret: 'mine' }), 'secret');
    expectFieldRefused(await outbound.request(`POST /${id}/resend`, { since: 'yesterday' }), 'since');
    expectRefusal(await outbound.request(`GET /${id}/deliveries?cursor=abc`), 400);
  });

  test('unknown and deleted endpoints are 404', async () => {
    const { id } = await outbound.create('/deleted');
    expect((await outbound.request(`DELETE /${id}`)).body.data).toEqual({ id, deleted: true });
    for (const path of [
      `GET /${id}`,
      `DELETE /${id}`,
      `POST /${id}/test`,
      'GET /nonsense',
      `GET /${id}/deliveries`,
    ])
      expectRefusal(await outbound.request(path), 404);
  });

  test('more endpoints than the maximum are 409; the list is paged', async () => {
    const { items, next_cursor: next } = (await outbound.request<never>('GET ?limit=3')).body.data as {
      items: EndpointJson[];
      next_cursor: string;
    };
    expect(items).toHaveLength(3);
    const rest = (await outbound.request<{ items: EndpointJson[] }>(`GET ?limit=200&cursor=${next}`)).body
      .data.items;
    expect(rest.map(({ id }) => id)).not.toContain(items[0]?.id);
    for (let count = items.length + rest.length; count < MAX_ENDPOINTS; count++)
      await outbound.create('/more');
    const refused = expectRefusal(
      await outbound.request('POST ', { url: outbound.receiver.url('/more') }),
      409,
    );
    expect(refused.details).toEqual({ reason: 'too_many_endpoints', limit: MAX_ENDPOINTS });
  });
});
