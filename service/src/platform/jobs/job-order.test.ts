// Tests that a fair queue serves owners round-robin, regardless of their backlogs.
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest';
import { rowsOf, startTestPostgres, type TestPostgres } from '../../../../test/support/postgres/postgres.ts';
import { hasOpenJob } from './job-order.ts';
import { type JobQueue, openJobs } from './job-queue.ts';
import type { JobSettings } from './job-settings.ts';
import type { Connection } from '../postgres/connection.ts';
import { type Database, openDatabase } from '../postgres/database.ts';

type Note = { readonly words: string };
type Runs = { note: Note };
const SETTINGS: JobSettings = {
  concurrency: 1,
  expireIn: 60,
  retries: 5,
  retryDelay: 0,
  fair: true,
};
const LONG = { timeout: 20_000 };

let server: TestPostgres;
let connection: Connection;
let db: Database;
beforeAll(async () => {
  server = await startTestPostgres();
});
beforeEach(async () => {
  connection = await server.database();
  db = openDatabase({ connection, onIdleError: () => undefined });
});
afterAll(() => server.stop());

const open = async (settings: Partial<JobSettings> = {}): Promise<JobQueue<Runs>> => {
  const queue = await openJobs<Runs>({
    connection,
    settings: { note: { ...SETTINGS, ...settings } },
    searchedMember: 'words',
    onError: () => undefined,
  });
  onTestFinished(async () => {
    await queue.stop();
    await db.close();
  });
  return queue;
};
const AT_ONCE = 10;
const send = async (queue: JobQueue<Runs>, owner: string, ...words: string[]) => {
  for (let at = 0; at < words.length; at += AT_ONCE)
    await Promise.all(words.slice(at, at + AT_ONCE).map((each) => sendOne(queue, owner, each)));
};
const sendOne = (queue: JobQueue<Runs>, owner: string, words: string) =>
  db.transaction((tx) => queue.sendFor(tx, owner, { name: 'note', payload: { words } }));
const numbered = (owner: string, count: number) =>
  Array.from({ length: count }, (_, number) => `${owner}${number}`);

/** Runs jobs one by one, in the order in which workers get them; `during` is called while each runs. */
const ranOf = async (queue: JobQueue<Runs>, during: (words: string) => Promise<unknown> = async () => {}) => {
  const ran: string[] = [];
  await queue.work({
    note: async ({ payload }) => {
      await during(payload.words);
      ran.push(payload.words);
    },
  });
  return ran;
};

test('the first job of an owner runs next, although another has hundreds waiting', async () => {
  const queue = await open();
  await send(queue, 'flood', ...numbered('f', 300));
  const ran = await ranOf(queue, async (words) => {
    if (ran.length === 100 && words.startsWith('f')) await send(queue, 'victim', 'v');
  });
  await expect.poll(() => ran.length, LONG).toBe(301);
  expect(ran.indexOf('v')).toBe(101);
});

test('waiting owners are served round-robin in the order of their first jobs', async () => {
  const queue = await open();
  await send(queue, 'a', 'a0');
  await send(queue, 'a', 'a1');
  await send(queue, 'a', 'a2');
  await send(queue, 'b', 'b0');
  await send(queue, 'b', 'b1');
  await send(queue, 'c', 'c0');
  const ran = await ranOf(queue);
  await expect.poll(() => ran, LONG).toEqual(['a0', 'b0', 'c0', 'a1', 'b1', 'a2']);
});

test('jobs that one owner enqueues concurrently get different priorities', async () => {
  const queue = await open();
  await send(queue, 'flood', ...numbered('f', 50));
  await send(queue, 'victim', 'v');
  const rows = await rowsOf(
    connection,
    "select count(distinct priority)::int as priorities from pgboss.job where group_id = 'flood'",
  );
  expect(rows).toEqual([{ priorities: 50 }]);
  const ran = await ranOf(queue);
  await expect.poll(() => ran.length, LONG).toBe(51);
  expect(ran.indexOf('v')).toBeLessThanOrEqual(1);
});

test('an owner with one job at a time has no advantage over an owner with a backlog', async () => {
  const queue = await open();
  await send(queue, 'patient', ...numbered('p', 20));
  await send(queue, 'eager', 'e');
  const ran = await ranOf(queue, async (words) => {
    if (words.startsWith('e') && ran.length < 20) await send(queue, 'eager', 'e');
  });
  await expect.poll(() => ran.length, LONG).toBeGreaterThan(20);
  const half = ran.slice(0, 20);
  expect(Math.abs(half.filter((words) => words === 'e').length - 10)).toBeLessThanOrEqual(1);
});

const isRetryDue = async () =>
  (await rowsOf(connection, "select start_after <= now() as due from pgboss.job where state = 'retry'"))[0]?.[
    'due'
  ];

test('a retried job with an old priority does not set the virtual time back', async () => {
  const queue = await open({ retryDelay: 1 });
  await send(queue, 'flaky', 'flaky');
  await send(queue, 'flood', ...numbered('f', 40));
  let failures = 0;
  const ran = await ranOf(queue, async (words) => {
    if (words === 'flaky' && failures++ === 0) throw new Error('not yet');
    if (words === 'flaky') await send(queue, 'late', ...numbered('l', 10));
    if (words === 'f10') await expect.poll(isRetryDue, LONG).toBe(true);
  });
  await expect.poll(() => ran.length, LONG).toBe(51);
  const turnsAfter = ran.slice(ran.indexOf('flaky') + 1, ran.indexOf('flaky') + 9);
  // With the clock turned back, the late owner would take all eight turns.
  expect(Math.abs(turnsAfter.filter((words) => words.startsWith('f')).length - 4)).toBeLessThanOrEqual(2);
});

test('open jobs are listed in the order of execution, running jobs first', async () => {
  const queue = await open();
  await send(queue, 'a', 'a0');
  let listed: unknown;
  const ran = await ranOf(queue, async (words) => {
    if (words !== 'a0') return;
    await send(queue, 'a', 'a1');
    await send(queue, 'b', 'b0');
    listed = (await queue.listOpen('note')).map(({ payload, isRunning }) => [payload.words, isRunning]);
  });
  await expect.poll(() => ran.length, LONG).toBe(3);
  expect(listed).toEqual([
    ['a0', true],
    ['b0', false],
    ['a1', false],
  ]);
});

test('an owner with a backlog of long jobs leaves a slot to others', async () => {
  const queue = await open({ concurrency: 3 });
  const gate = Promise.withResolvers<void>();
  const begun: string[] = [];
  const ended: string[] = [];
  await send(queue, 'flood', ...numbered('f', 5));
  await queue.work({
    note: async ({ payload: { words } }) => {
      begun.push(words);
      if (words.startsWith('f')) await gate.promise;
      ended.push(words);
    },
  });
  await expect.poll(() => begun, LONG).toHaveLength(2);
  await send(queue, 'victim', 'v0', 'v1', 'v2');
  await expect.poll(() => ended.toSorted(), LONG).toEqual(['v0', 'v1', 'v2']);
  expect(begun.filter((words) => words.startsWith('f'))).toHaveLength(2);
  gate.resolve();
  await expect.poll(() => ended.length, LONG).toBe(8);
});

test('a job of a fair queue without an owner is rejected', async () => {
  const queue = await open();
  await expect(db.transaction((tx) => queue.send(tx, 'note', { words: 'whose?' }))).rejects.toThrow(
    'needs an owner',
  );
});

test('a search among open jobs does not read completed ones, nor other open ones', async () => {
  await open();
  await rowsOf(
    connection,
    `insert into pgboss.job_common (name, data, state, completed_on)
     select 'note', json_build_object('words', number::text), state::pgboss.job_state, now()
       from generate_series(1, 20000) as number, unnest(array['completed', 'created']) as state
      where state = 'completed' or number % 10 = 0`,
  );
  await rowsOf(connection, 'analyze pgboss.job_common');
  const buffers: number[] = [];
  const find = (words: string) =>
    hasOpenJob(
      {
        executeSql: async (text, values) => {
          const plan = await rowsOf(connection, `explain (analyze, buffers, format json) ${text}`, values);
          expect(JSON.stringify(plan)).toContain('job_by_member');
          buffers.push(Number(/"Shared Hit Blocks":(\d+)/.exec(JSON.stringify(plan))?.[1]));
          return { rows: await rowsOf(connection, text, values) };
        },
      },
      { queue: 'note', payload: { words }, searchedMember: 'words' },
    );
  expect([await find('10'), await find('11')]).toEqual([true, false]);
  expect(Math.max(...buffers)).toBeLessThan(10);
});

test('the priority query uses indexes only', async () => {
  const queue = await open();
  await send(queue, 'flood', ...numbered('f', 30));
  const plan = await rowsOf(
    connection,
    `explain select min(priority) from pgboss.job
      where name = 'note' and group_id = 'flood' and state <= 'active'`,
  );
  expect(JSON.stringify(plan)).toContain('job_fair_order');
});
