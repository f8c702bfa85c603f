// Tests with a real database that each event is scheduled once, in order, for the endpoints that ask for it.
import pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import {
  A,
  B,
  type EndpointStore,
  openEndpointStore,
} from '../../../../test/support/store/endpoint-store.ts';
import { startTestPostgres, type TestPostgres } from '../../../../test/support/postgres/postgres.ts';
import { raisePositions } from '../feed.sql.ts';

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

const URL_1 = 'http://127.0.0.1:8001/';
const URL_2 = 'http://127.0.0.1:8002/';
const scheduled = async () => (await store.states()).map(({ url, type }) => [url, type]);

describe('the fan-out', () => {
  test('schedules events from the activation on, of the types that an endpoint asks for', async () => {
    await store.addEvents([{ asset: A, type: 'asset.created' }]);
    await store.createEndpoint({ url: URL_1 });
    const { endpoint } = await store.createEndpoint({ url: URL_2, events: ['asset.ready'], enabled: false });
    await store.addEvents([
      { asset: A, type: 'asset.processing' },
      { asset: A, type: 'asset.checked' },
      { asset: A, type: 'asset.ready' },
    ]);
    await store.updateEndpoint(endpoint.id, { enabled: true });
    await store.addEvents([
      { asset: B, type: 'asset.created' },
      { asset: B, type: 'asset.ready' },
    ]);
    expect(await store.fanOut()).toEqual({ scheduled: 5, hasMore: false, isHeldBack: false });
    expect(await scheduled()).toEqual([
      [URL_1, 'asset.processing'],
      [URL_1, 'asset.ready'],
      [URL_1, 'asset.created'],
      [URL_1, 'asset.ready'],
      [URL_2, 'asset.ready'],
    ]);
    expect((await store.fanOut()).scheduled).toBe(0);
  });

  test('by many processes at once schedules each event once', async () => {
    await store.createEndpoint({ url: URL_1 });
    for (let count = 0; count < 5; count++) {
      await store.addEvents(Array.from({ length: 100 }, () => ({ asset: A, type: 'asset.updated' })));
      await Promise.all(Array.from({ length: 4 }, () => store.fanOut()));
    }
    while ((await store.fanOut()).hasMore);
    expect(
      await store.rows('select count(*), count(distinct event_id) as events from endpoint_deliveries'),
    ).toEqual([{ count: 500, events: 500 }]);
  });

  test('waits for transactions that commit later than they started, and loses none', async () => {
    await store.createEndpoint({ url: URL_1 });
    const slow = new pg.Client(store.connection);
    await slow.connect();
    await slow.query('begin');
    await slow.query(
      `insert into events (id, asset_id, owner_user_id, type, data, created_at, revision)
       values (gen_random_uuid(), $1, 'ann', 'asset.created', '{}', now(), 1)`,
      [A],
    );
    await store.addEvents([{ asset: B, type: 'asset.ready' }]);
    expect(await store.fanOut()).toEqual({ scheduled: 0, hasMore: false, isHeldBack: true });
    await slow.query('commit');
    await slow.end();
    await store.fanOut();
    expect(await scheduled()).toEqual([
      [URL_1, 'asset.created'],
      [URL_1, 'asset.ready'],
    ]);
  });

  test('does not miss an event that follows an activation whose transaction was slow', async () => {
    await store.createEndpoint({ url: URL_1 });
    const { endpoint } = await store.createEndpoint({ url: URL_2, enabled: false });
    const slow = new pg.Client(store.connection);
    await slow.connect();
    await slow.query('begin');
    await slow.query(
      `update webhook_endpoints set status = 'enabled', active_after = event_transaction(pg_current_xact_id())
        where id = $1`,
      [endpoint.id],
    );
    await store.addEvents([{ asset: A, type: 'asset.created' }]);
    expect((await store.fanOut()).scheduled).toBe(0);
    await slow.query('commit');
    await slow.end();
    expect((await store.fanOut()).scheduled).toBe(2);
  });

  test('schedules the first events after a restore into a server with lower transaction ids', async () => {
    const future = 5_000_000_000;
    const { endpoint } = await store.createEndpoint({ url: URL_1 });
    await store.rows('update webhook_endpoints set active_after = $1', [future]);
    await store.rows('update event_cursors set transaction_id = $1', [future + 1]);
    expect(await raisePositions(store.db)).toBe(true);
    await store.addEvents([{ asset: A, type: 'asset.created' }]);
    expect((await store.fanOut()).scheduled).toBe(1);
    await store.createEndpoint({ url: URL_2 });
    await store.updateEndpoint(endpoint.id, { enabled: false });
    await store.updateEndpoint(endpoint.id, { enabled: true });
    await store.addEvents([{ asset: A, type: 'asset.ready' }]);
    expect((await store.fanOut()).scheduled).toBe(2);
    expect(await raisePositions(store.db)).toBe(false);
  });
});
