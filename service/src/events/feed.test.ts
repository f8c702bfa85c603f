// Tests the order of the feed with a real database: no event is missed or repeated, whatever commits when.
import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import {
  openTestDatabase,
  rowsOf,
  startTestPostgres,
  type TestPostgres,
} from '../../../test/support/postgres/postgres.ts';
import type { Connection } from '../platform/postgres/connection.ts';
import type { Database } from '../platform/postgres/database.ts';
import {
  type NotificationChannels,
  type Notifications,
  openChannels,
} from '../platform/postgres/notifications.ts';
import { uuidV7 } from '../platform/values/uuid-v7.ts';
import { createEventsContext } from './context.fixture.ts';
import { followFeed } from './feed.ts';
import { findFeedHead, listEventsAfter, raisePositions } from './feed.sql.ts';
import { type FeedEvent, isAfter } from './feed-event.ts';

let server: TestPostgres;
let connection: Connection;
let db: Database;
let channels: NotificationChannels;
beforeAll(async () => {
  server = await startTestPostgres();
  connection = await server.migrated();
  db = openTestDatabase(connection);
  channels = openChannels({ connection, onError: () => {} });
});
afterAll(async () => {
  await channels.close();
  await db.close();
  await server.stop();
});

async function follow() {
  const notifications: Notifications = {
    subscribe: (listener) => channels.subscribe('mediary_events', listener),
  };
  const events: FeedEvent[] = [];
  let isNeeded = true;
  let onEnd = () => {};
  const ended = new Promise<void>((resolve) => {
    onEnd = resolve;
  });
  await followFeed(createEventsContext({ db, notifications }), {
    onEvents: async (page) => {
      events.push(...page);
    },
    isNeeded: () => isNeeded,
    onEnd,
  });
  return {
    events,
    stop: async () => {
      isNeeded = false;
      await insertEvent(connection, randomUUID());
      await ended;
    },
  };
}

const INSERT = `insert into events (id, asset_id, owner_user_id, type, data, created_at, revision)
                values ($1, $2, 'ann', 'asset.updated', '{}', now(), 1)`;

async function insertEvent(target: Connection, assetId: string): Promise<string> {
  const id = uuidV7();
  await rowsOf(
    target,
    `with inserted as (${INSERT} returning 1) select pg_notify('mediary_events', $2::text)`,
    [id, assetId],
  );
  return id;
}

async function openClient(target: Connection = connection): Promise<pg.Client> {
  const client = new pg.Client(target);
  await client.connect();
  return client;
}

/** Commits, or rolls back each tenth transaction; returns the ids of committed events. */
async function writeEvents(transactions: number): Promise<string[]> {
  const client = await openClient();
  const committed: string[] = [];
  for (let count = 0; count < transactions; count++) {
    await client.query('begin');
    const ids = Array.from({ length: 1 + Math.floor(Math.random() * 3) }, () => uuidV7());
    for (const id of ids) {
      await client.query(INSERT, [id, randomUUID()]);
      await client.query('select pg_sleep($1)', [Math.random() * 0.01]);
    }
    const isCommitted = Math.random() > 0.1;
    await client.query(isCommitted ? 'commit' : 'rollback');
    if (isCommitted) committed.push(...ids);
  }
  await client.end();
  return committed;
}

test('64 concurrent writers: every committed event arrives once, in the order of positions', async () => {
  const feed = await follow();
  const written = (await Promise.all(Array.from({ length: 64 }, () => writeEvents(8)))).flat();
  await insertEvent(connection, randomUUID());
  await vi.waitFor(() => expect(feed.events.length).toBeGreaterThan(written.length), { timeout: 20_000 });
  await feed.stop();
  const ids = feed.events.map(({ id }) => id);
  expect(new Set(ids).size).toBe(ids.length);
  expect(written.filter((id) => !ids.includes(id))).toEqual([]);
  const isOrdered = feed.events.every(({ position }, index) => {
    const previous = feed.events[index - 1];
    return !previous || isAfter(position, previous.position);
  });
  expect(isOrdered).toBe(true);
});

test('an event waits for an older transaction that may still write one before it', async () => {
  const { head } = await findFeedHead(db);
  const slow = await openClient();
  await slow.query('begin');
  const first = uuidV7();
  await slow.query(INSERT, [first, randomUUID()]);
  const second = await insertEvent(connection, randomUUID());
  expect(await listEventsAfter(db, { after: head, limit: 10 })).toMatchObject({
    events: [],
    isHeldBack: true,
  });
  await slow.query('commit');
  await slow.end();
  const { events } = await listEventsAfter(db, { after: head, limit: 10 });
  expect(events.map(({ id }) => id)).toEqual([first, second]);
});

test('a transaction of another database does not delay the feed', async () => {
  const other = await openClient(await server.database());
  await other.query('create table facts (n int)');
  await other.query('begin');
  await other.query('insert into facts values (1)');
  const { head } = await findFeedHead(db);
  const id = await insertEvent(connection, randomUUID());
  const { events } = await listEventsAfter(db, { after: head, limit: 10 });
  await other.query('rollback');
  await other.end();
  expect(events.map((event) => event.id)).toEqual([id]);
});

test('filters by owner and asset, and ends a page at `until`', async () => {
  const { head } = await findFeedHead(db);
  const asset = randomUUID();
  const ids = [await insertEvent(connection, asset), await insertEvent(connection, randomUUID())];
  const page = async (filter: object) =>
    (await listEventsAfter(db, { after: head, filter, limit: 10 })).events.map(({ id }) => id);
  expect(await page({ assetId: asset })).toEqual([ids[0]]);
  expect(await page({ ownerUserId: 'ann' })).toEqual(ids);
  expect(await page({ ownerUserId: 'bob' })).toEqual([]);
  const { events } = await listEventsAfter(db, { after: head, limit: 1 });
  const until = events[0]?.position;
  const bounded = await listEventsAfter(db, { after: head, until, limit: 10 });
  expect(bounded.events.map(({ id }) => id)).toEqual([ids[0]]);
  expect(bounded.hasMore).toBe(false);
});

test('positions keep rising after a restore into a server with lower transaction ids', async () => {
  const future = 4_000_000_000;
  await rowsOf(
    connection,
    `insert into events (id, asset_id, owner_user_id, type, data, created_at, revision, transaction_id)
    values ($1, $2, 'ann', 'asset.updated', '{}', now(), 1, $3)`,
    [uuidV7(), randomUUID(), future],
  );
  await Promise.all([raisePositions(db), raisePositions(db)]);
  const { head, newest } = await findFeedHead(db);
  expect(head.transactionId).toBeGreaterThan(future);
  expect(newest).toBeGreaterThanOrEqual(head.transactionId);
  const id = await insertEvent(connection, randomUUID());
  const { events } = await listEventsAfter(db, { after: head, limit: 10 });
  expect(events.map((event) => event.id)).toEqual([id]);
});
