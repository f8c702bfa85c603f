// Tests that live streams miss no event when the assets of events cannot be read.
import { PassThrough } from 'node:stream';
import { expect, test, vi } from 'vitest';
import { unavailable } from '../platform/http/errors.ts';
import { databaseOf } from '../platform/postgres/database.fixture.ts';
import { createEventsContext } from './context.fixture.ts';
import { createEventStreams } from './event-streams.ts';
import { isAfter, type Position } from './feed-event.ts';

const ID = '019aab7c-4d2e-7c55-9f0e-6d1f2b3c4d5e';
const FIRST: Position = { transactionId: 0, id: '00000000-0000-0000-0000-000000000000' };

/** One event for each transaction id. */
type Store = { events: number[] };

const rowOf = (transactionId: number) => ({
  id: ID,
  asset_id: ID,
  owner_user_id: 'ann',
  type: 'asset.updated',
  data: {},
  created_at: new Date(0),
  transaction_id: transactionId,
  is_settled: true,
});

const openDatabase = (store: Store) =>
  databaseOf({
    all: (text, [transactionId, id]) =>
      text.includes('as newest')
        ? [{ oldest: (store.events.at(-1) ?? 0) + 1, newest: 1000 }]
        : store.events
            .filter((number) => isAfter({ transactionId: number, id: ID }, { transactionId, id } as Position))
            .map(rowOf),
  });

/** `findAssetById` rejects with each of the errors once. */
function openStreams(store: Store) {
  const errors: Error[] = [];
  const log = { warn: vi.fn(), error: vi.fn() };
  let wake = () => {};
  const ctx = createEventsContext({
    db: openDatabase(store),
    notifications: {
      subscribe: (listener) => {
        wake = () => listener(undefined);
        return () => {};
      },
    },
    log,
    lifecycle: {
      findAssetById: async () => {
        const error = errors.shift();
        if (error) throw error;
        return undefined;
      },
    },
  });
  const { openStream, endStreams } = createEventStreams(ctx);
  const connect = async (after: Position) => {
    const output = new PassThrough();
    let text = '';
    output.on('data', (chunk) => {
      text += String(chunk);
    });
    await openStream({ filter: {}, after, caller: { kind: 'user', userId: 'ann' } }, () => output);
    return { output, ids: () => [...text.matchAll(/^id: (\d+)-\S+\nevent/gm)].map(([, id]) => Number(id)) };
  };
  return { connect, errors, log, wake: () => wake(), endStreams };
}

test('a page of events is sent after the database has failed once', async () => {
  const store: Store = { events: [1, 2] };
  const streams = openStreams(store);
  const { ids } = await streams.connect(FIRST);
  await vi.waitFor(() => expect(ids()).toEqual([1, 2]));
  streams.errors.push(unavailable('The database does not respond.'));
  store.events.push(3, 4);
  streams.wake();
  await vi.waitFor(() => expect(streams.log.warn).toHaveBeenCalledOnce());
  store.events.push(5);
  streams.wake();
  await vi.waitFor(() => expect(ids()).toEqual([1, 2, 3, 4, 5]));
  streams.endStreams();
});

test('an event that cannot be rendered closes the live streams before it; clients resume there', async () => {
  const store: Store = { events: [1] };
  const streams = openStreams(store);
  const { ids, output } = await streams.connect(FIRST);
  await vi.waitFor(() => expect(ids()).toEqual([1]));
  streams.errors.push(new TypeError('This asset cannot be rendered.'));
  store.events.push(2);
  streams.wake();
  await vi.waitFor(() => expect(output.destroyed).toBe(true));
  expect(streams.log.error).toHaveBeenCalledOnce();
  const resumed = await streams.connect({ transactionId: 1, id: ID });
  await vi.waitFor(() => expect(resumed.ids()).toEqual([2]));
  store.events.push(3);
  streams.wake();
  await vi.waitFor(() => expect(resumed.ids()).toEqual([2, 3]));
  streams.endStreams();
});
