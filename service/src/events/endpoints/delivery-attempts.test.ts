// Tests with a real database which deliveries are claimed, in which order, and what attempts change.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import {
  A,
  B,
  C,
  type EndpointStore,
  openEndpointStore,
} from '../../../../test/support/store/endpoint-store.ts';
import { startTestPostgres, type TestPostgres } from '../../../../test/support/postgres/postgres.ts';
import { toSecret } from '../../auth/secret.ts';
import { EVENT_SETTINGS } from '../context.fixture.ts';
import { deleteOldEndpointDeliveries, resendDelivery, resendEvents } from './endpoint-deliveries.ts';
import { createEndpoint, getSigningSecrets } from './webhook-endpoints.ts';

let server: TestPostgres;
let store: EndpointStore;
beforeAll(async () => {
  server = await startTestPostgres();
  store = await openEndpointStore(server);
});
afterAll(async () => {
  await store.close();
  await server.stop();
});
beforeEach(() => store.reset());

const URLS = ['http://127.0.0.1:8001/', 'http://127.0.0.1:8002/'] as const;
const endpoint = async (url: string = URLS[0]) => (await store.createEndpoint({ url })).endpoint;
const schedule = async (events: readonly (readonly [asset: string, type: string])[]) => {
  await store.addEvents(events.map(([asset, type]) => ({ asset, type: `asset.${type}` })));
  await store.fanOut();
};
const manyAssets = (count: number) => Array.from({ length: count }, () => [randomUUID(), 'ready'] as const);
const namesOf = (claimed: Awaited<ReturnType<EndpointStore['claim']>>) =>
  claimed.map(({ event }) => [event?.asset_id, event?.type]).sort();
const DUE = 'due_at = now() where due_at is not null';
const makeDue = () => store.rows(`update endpoint_deliveries set ${DUE}`);

describe('events of an asset', () => {
  test('are claimed one by one, also after failures; assets do not wait for each other', async () => {
    await endpoint();
    await schedule([
      [A, 'created'],
      [B, 'created'],
      [A, 'ready'],
    ]);
    const first = await store.claim();
    expect(namesOf(first)).toEqual([
      [A, 'asset.created'],
      [B, 'asset.created'],
    ]);
    expect(await store.claim()).toEqual([]);
    await store.record(first, 500);
    await schedule([[A, 'updated']]);
    expect(await store.claim()).toEqual([]);
    await makeDue();
    await store.record(await store.claim(), 200);
    const next = await store.claim();
    expect(namesOf(next)).toEqual([[A, 'asset.ready']]);
    await store.record(next, 200);
    expect(namesOf(await store.claim())).toEqual([[A, 'asset.updated']]);
  });

  test('go on after one that has failed for good', async () => {
    await endpoint();
    await schedule([
      [A, 'created'],
      [A, 'ready'],
    ]);
    for (let attempt = 0; attempt < 2; attempt++) {
      await store.record(await store.claim(), null);
      await makeDue();
    }
    expect((await store.states()).map(({ state }) => state)).toEqual(['failed', 'pending']);
    expect(namesOf(await store.claim())).toEqual([[A, 'asset.ready']]);
  });
});

describe('a lease', () => {
  test('that expires is taken over, and its holder changes nothing any more', async () => {
    await endpoint();
    await schedule([[A, 'ready']]);
    const lost = await store.claim({ leaseMs: 1 });
    await expect.poll(async () => (await store.claim()).length).toBe(1);
    await store.record(lost, 200);
    expect(await store.states()).toMatchObject([{ state: 'pending' }]);
  });
});

describe('limits', () => {
  test('an endpoint has at most its concurrency, and less while it fails', async () => {
    await endpoint();
    await schedule(manyAssets(20));
    const claimed = await store.claim();
    expect(claimed).toHaveLength(8);
    expect(await store.claim()).toEqual([]);
    await store.record(claimed.slice(0, 3), 200);
    expect(await store.claim()).toHaveLength(3);
    await store.record(claimed.slice(3), 500);
    expect(await store.claim()).toEqual([]);
    await store.rows(`update endpoint_deliveries set lease_holder = null, ${DUE}`);
    expect(await store.claim()).toHaveLength(2);
  });

  test('an endpoint leaves its share to others', async () => {
    await endpoint();
    await schedule(manyAssets(20));
    expect(await store.claim({ total: 6 })).toHaveLength(3);
    await endpoint(URLS[1]);
    await schedule(manyAssets(20));
    const [other, ...more] = await store.claim({ total: 6, free: 1 });
    expect([other?.url, more]).toEqual([URLS[1], []]);
  });
});

describe('an endpoint', () => {
  const only = async () => {
    const [{ status, paused_reason: reason, failing_since: since } = {}] = await store.rows(
      'select * from webhook_endpoints',
    );
    return { status, reason, isFailing: since !== null };
  };
  const fail = async () => {
    await makeDue();
    await store.record(await store.claim(), 503);
  };

  test('is paused when it has failed for five days, and only its activation ends that', async () => {
    const { id } = await endpoint();
    await schedule(manyAssets(2));
    await fail();
    expect(await only()).toEqual({ status: 'enabled', reason: null, isFailing: true });
    await store.rows("update webhook_endpoints set failing_since = now() - interval '5 days 1 second'");
    await schedule(manyAssets(1));
    await fail();
    expect(await only()).toEqual({ status: 'paused', reason: 'failing', isFailing: true });
    await makeDue();
    expect(await store.claim()).toEqual([]);
    await store.updateEndpoint(id, { enabled: true });
    expect(await only()).toEqual({ status: 'enabled', reason: null, isFailing: false });
    expect(await store.claim()).not.toEqual([]);
  });

  test('is not paused for failures with a long silence between them, or with a success', async () => {
    await endpoint();
    await schedule(manyAssets(2));
    await fail();
    await store.rows(
      `update webhook_endpoints
          set failing_since = now() - interval '9 days', failed_at = now() - interval '6 days'`,
    );
    await schedule(manyAssets(1));
    await fail();
    expect(await only()).toMatchObject({ status: 'enabled', isFailing: true });
    await schedule([[C, 'created']]);
    await store.record(await store.claim(), 204);
    expect(await only()).toMatchObject({ status: 'enabled', isFailing: false });
  });
});

test('a resent delivery is a new one at the end of its asset; a pending one is sent now', async () => {
  const found = await endpoint();
  await schedule([
    [A, 'created'],
    [A, 'ready'],
  ]);
  const [first] = await store.claim();
  if (!first) throw new Error('nothing was claimed');
  await store.record([first], 200);
  const resent = await resendDelivery(store.ctx, found, first.id);
  expect(resent).toMatchObject({ event_id: first.event_id, state: 'pending', due_at: null });
  await store.record(await store.claim(), 500);
  const [, waiting] = await store.rows('select id from endpoint_deliveries order by seq');
  await resendDelivery(store.ctx, found, String(waiting?.['id']));
  expect(namesOf(await store.claim())).toEqual([[A, 'asset.ready']]);
});

test('events of a period are sent again in the order of the feed, also where clocks differ', async () => {
  const found = await endpoint();
  const ids = await store.addEvents([
    { asset: A, type: 'asset.created' },
    { asset: A, type: 'asset.checked' },
  ]);
  const [later] = await store.addEvents([{ asset: A, type: 'asset.ready' }]);
  // The clock of the second process is 10 s behind.
  await store.rows("update events set id = first_id_of(now() - interval '10 s') where id = $1", [later]);
  const period = {
    since: new Date(Date.now() - 60_000).toISOString(),
    until: new Date(Date.now() + 60_000).toISOString(),
  };
  expect(await resendEvents(store.ctx, found, period)).toEqual({ scheduled: 2, nextSince: null });
  const first = await store.claim();
  expect(first.map((delivery) => delivery.event_id)).toEqual([ids[0]]);
  await store.record(first, 200);
  expect(namesOf(await store.claim())).toEqual([[A, 'asset.ready']]);
});

test('old deliveries are deleted, and the ones that waited for them are sent', async () => {
  await endpoint();
  await schedule([
    [A, 'created'],
    [A, 'ready'],
  ]);
  await store.rows(
    `update endpoint_deliveries set id = first_id_of(now() - interval '31 days')
      where type = 'asset.created'`,
  );
  expect(await deleteOldEndpointDeliveries(store.ctx)).toBe(1);
  expect(namesOf(await store.claim())).toEqual([[A, 'asset.ready']]);
});

test('concurrent creations do not exceed the maximum', async () => {
  const maxCount = 4;
  const webhookEndpoints = { ...EVENT_SETTINGS.webhookEndpoints, maxCount };
  const ctx = { ...store.ctx, settings: { ...EVENT_SETTINGS, webhookEndpoints } };
  const results = await Promise.allSettled(
    Array.from({ length: 10 }, () => createEndpoint(ctx, { url: URLS[0] })),
  );
  const refused = results.filter((result) => result.status === 'rejected');
  expect(refused.map(({ reason }) => reason.details.reason)).toEqual(Array(6).fill('too_many_endpoints'));
  expect(await store.rows('select count(*) from webhook_endpoints')).toEqual([{ count: maxCount }]);
});

test('secrets move to a new URL_SIGNING_SECRET while the previous one is known', async () => {
  const { endpoint: created, secret } = await store.createEndpoint({ url: URLS[0] });
  const { secret: rotated } = await store.rotateSecret(created.id);
  const [before, after] = [toSecret('test-url-signing-secret-0123456789abcdef'), toSecret('a new root')];
  const read = async (...urlSecrets: (typeof before)[]) => {
    const ctx = { ...store.ctx, urlSecrets };
    return (await getSigningSecrets(ctx, await store.getEndpoint(created.id))).map((each) => each.reveal());
  };
  const both = [rotated.reveal(), secret.reveal()];
  expect(await read(after)).toEqual([]);
  expect(await read(after, before)).toEqual(both);
  expect(await read(after)).toEqual(both);
  await store.rows("update webhook_endpoints set previous_secret_until = now() - interval '1 second'");
  expect(await read(after)).toEqual([rotated.reveal()]);
});
