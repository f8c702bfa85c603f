// Tests that jobs commit with their state and are not lost when a process stops.
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { rowsOf, startTestPostgres, type TestPostgres } from '../../../../test/support/postgres/postgres.ts';
import { type JobQueue, type JobRun, openJobs } from './job-queue.ts';
import type { JobSettings } from './job-settings.ts';
import type { Connection } from '../postgres/connection.ts';
import { type Database, openDatabase } from '../postgres/database.ts';

type Note = { readonly words: string };
type Runs = { note: Note };
const SETTINGS: JobSettings = { concurrency: 3, expireIn: 60, retries: 5, retryDelay: 0 };
const LONG = { timeout: 20_000 };

let server: TestPostgres;
let connection: Connection;
let db: Database;
beforeAll(async () => {
  server = await startTestPostgres();
  connection = await server.database();
  db = openDatabase({ connection, onIdleError: () => undefined });
});
afterAll(async () => {
  await db.close();
  await server.stop();
});

const open = async (settings: Partial<JobSettings> = {}): Promise<JobQueue<Runs>> => {
  const queue = await openJobs<Runs>({
    connection,
    settings: { note: { ...SETTINGS, ...settings } },
    searchedMember: 'words',
    onError: () => undefined,
  });
  onTestFinished(queue.stop);
  return queue;
};
const send = (queue: JobQueue<Runs>, ...words: string[]) =>
  db.transaction(async (tx) => {
    for (const each of words) await queue.send(tx, 'note', { words: each });
  });
/** A handler that stays until it is told to end, as an encoder does. */
const held =
  (begun: string[]) =>
  ({ payload, signal }: JobRun<Note>) =>
    new Promise<void>((_, reject) => {
      begun.push(payload.words);
      signal.addEventListener('abort', () => reject(signal.reason));
    });

test('a rollback removes the job, and a committed job runs once', async () => {
  const queue = await open();
  const ran: string[] = [];
  await db
    .transaction(async (tx) => {
      await queue.send(tx, 'note', { words: 'rolled back' });
      throw new Error('changed my mind');
    })
    .catch(() => undefined);
  await send(queue, 'committed');
  await queue.work({
    note: async ({ payload }) => {
      ran.push(payload.words);
    },
  });
  await expect.poll(() => ran, LONG).toEqual(['committed']);
  // A later job has run, so no earlier job is pending.
  await send(queue, 'later');
  await expect.poll(() => ran, LONG).toEqual(['committed', 'later']);
});

test('a job whose run fails runs again', async () => {
  const queue = await open();
  const ran: string[] = [];
  await send(queue, 'twice');
  await queue.work({
    note: async ({ payload }) => {
      ran.push(payload.words);
      if (ran.length === 1) throw new Error('the store is down');
    },
  });
  await expect.poll(() => ran, LONG).toEqual(['twice', 'twice']);
});

test('the job of a provider waits for a process that serves it, and equal jobs wait as one', async () => {
  type ForProvider = { move: { provider: string; what: string } };
  const openLaned = async () => {
    const queue = await openJobs<ForProvider>({
      connection,
      settings: { move: { ...SETTINGS, providers: ['left', 'right'] } },
      searchedMember: 'words',
      onError: () => undefined,
    });
    onTestFinished(queue.stop);
    return queue;
  };
  const [left, right] = [await openLaned(), await openLaned()];
  const ran: string[] = [];
  const handlerOf = (process: string) => ({
    move: async ({ payload }: JobRun<ForProvider['move']>) => {
      ran.push(`${process} ${payload.what}`);
    },
  });
  const sendMoves = (...moves: [provider: string, what: string][]) =>
    db.transaction(async (tx) => {
      for (const [provider, what] of moves) await left.send(tx, 'move', { provider, what });
    });
  await left.work(handlerOf('left'), { providers: ['left'] });
  await sendMoves(['right', 'one'], ['right', 'one'], ['left', 'two']);
  await expect.poll(() => ran, LONG).toEqual(['left two']);
  expect(await left.hasOpenJob('move', { provider: 'right' })).toBe(true);
  await right.work(handlerOf('right'), { providers: ['right'] });
  await expect.poll(() => ran, LONG).toEqual(['left two', 'right one']);
  await sendMoves(['right', 'one']);
  await expect.poll(() => ran, LONG).toEqual(['left two', 'right one', 'right one']);
});

test('the owners of a fair queue with providers take turns in each provider', async () => {
  type ForProvider = { move: { provider: string; what: string } };
  const queue = await openJobs<ForProvider>({
    connection,
    settings: { move: { ...SETTINGS, concurrency: 1, fair: true, providers: ['left', 'right'] } },
    searchedMember: 'words',
    onError: () => undefined,
  });
  onTestFinished(queue.stop);
  const ran: string[] = [];
  const send = (owner: string, provider: string, what: string) =>
    db.transaction((tx) => queue.sendFor(tx, owner, { name: 'move', payload: { provider, what } }));
  for (const what of ['ann 1', 'ann 1', 'ann 2', 'ann 3']) await send('ann', 'left', what);
  await send('bob', 'left', 'bob 1');
  await send('bob', 'right', 'elsewhere');
  await queue.work({ move: async ({ payload }) => void ran.push(payload.what) }, { providers: ['left'] });
  await expect.poll(() => ran, LONG).toEqual(['ann 1', 'bob 1', 'ann 2', 'ann 3']);
});

test('a failed job is retried with the same payload', async () => {
  const queue = await open();
  const ran: string[] = [];
  await queue.work({
    note: async ({ payload }) => {
      ran.push(payload.words);
      if (ran.length < 3) throw new Error('not yet');
    },
  });
  await send(queue, 'stubborn');
  await expect.poll(() => ran, LONG).toEqual(['stubborn', 'stubborn', 'stubborn']);
});

test('running and waiting jobs of a stopped process are run by the next process', async () => {
  const first = await open({ concurrency: 2 });
  const [begun, ran]: [string[], string[]] = [[], []];
  await first.work({ note: held(begun) });
  await send(first, 'a', 'b', 'c', 'd');
  await expect.poll(() => begun.length, LONG).toBe(2);
  await first.stop();
  const second = await open();
  await second.work({
    note: async ({ payload }) => {
      ran.push(payload.words);
    },
  });
  await expect.poll(() => ran.toSorted(), LONG).toEqual(['a', 'b', 'c', 'd']);
});

test('the concurrency limit of a queue is respected', async () => {
  const queue = await open({ concurrency: 2 });
  let [running, most] = [0, 0];
  const done: string[] = [];
  await queue.work({
    note: async ({ payload }) => {
      most = Math.max(most, ++running);
      await db.transaction(async () => undefined);
      running--;
      done.push(payload.words);
    },
  });
  await send(queue, 'a', 'b', 'c', 'd', 'e', 'f');
  await expect.poll(() => done.toSorted(), LONG).toEqual(['a', 'b', 'c', 'd', 'e', 'f']);
  expect(most).toBeLessThanOrEqual(2);
});

test('a backlog is processed without pauses between jobs', async () => {
  const queue = await open({ concurrency: 1 });
  const words = Array.from({ length: 50 }, (_, number) => `piled up ${number}`);
  await send(queue, ...words);
  const ran: string[] = [];
  await queue.work({
    note: async ({ payload }) => {
      ran.push(payload.words);
    },
  });
  // Polling every two seconds would take far longer.
  await expect.poll(() => ran.length, LONG).toBe(words.length);
  // Jobs of one transaction have no order among each other.
  expect(new Set(ran)).toEqual(new Set(words));
});

test('a scheduled job runs once in a period, by whatever process, and only if it is needed', async () => {
  const ran: string[] = [];
  const asked: boolean[] = [];
  const start = async (isNeeded: boolean) => {
    const queue = await open({ schedule: { everyMinutes: 1 } });
    const note = async () => asked.push(isNeeded) > 0 && isNeeded;
    await queue.work({ note: async () => void ran.push('ran') }, { isNeeded: { note } });
  };
  await start(false);
  await Promise.all([start(true), start(true)]);
  await expect.poll(() => asked.length, LONG).toBeGreaterThan(2);
  const sent = () =>
    rowsOf(connection, 'select singleton_on, state from pgboss.job where singleton_on is not null');
  await expect.poll(async () => (await sent()).every(({ state }) => state === 'completed'), LONG).toBe(true);
  expect(ran).toHaveLength(new Set((await sent()).map(({ singleton_on: on }) => String(on))).size);
});

test('only the retry of a killed process starts without delay', async () => {
  const queue = await open({ retries: 20, retryDelay: 60, retryDelayMax: 300 });
  const begun: string[] = [];
  await queue.work({
    note: async ({ payload }) => {
      begun.push(payload.words);
      if (payload.words === 'failing') throw new Error('not yet');
    },
  });
  await send(queue, 'failing');
  const delayed = () => rowsOf(connection, `select 1 from pgboss.job where state = 'retry'`);
  await expect.poll(delayed, LONG).toHaveLength(1);
  await db.transaction((tx) =>
    tx.executeSql(
      `insert into pgboss.job (name, data, state, started_on, heartbeat_on, heartbeat_seconds, retry_limit,
                               retry_count, retry_delay, retry_backoff, retry_delay_max)
       values ('note', '{"words": "killed often"}', 'active', now(), now() - interval '1 minute', 15, 20,
               9, 60, true, 300)`,
      [],
    ),
  );
  await expect.poll(() => begun, LONG).toEqual(['failing', 'killed often']);
});

test('a missing handler is rejected', async () => {
  const queue = await open();
  await expect(queue.work({} as Parameters<typeof queue.work>[0])).rejects.toThrow(
    'job "note" has no handler',
  );
});
