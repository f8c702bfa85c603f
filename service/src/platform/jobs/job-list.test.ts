// Tests that lists of jobs read indexes only, however many jobs wait, have failed or were completed.
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { rowsOf, startTestPostgres, type TestPostgres } from '../../../../test/support/postgres/postgres.ts';
import { buffersOf } from '../../../../test/support/postgres/query-plans.ts';
import type { Connection } from '../postgres/connection.ts';
import { findJob, type JobPosition, LISTED_STATES, type ListedState, listJobs } from './job-list.ts';
import { openJobs } from './job-queue.ts';

const NOTE = { concurrency: 1, expireIn: 60, retries: 5, retryDelay: 0 };
const JOBS = 50_000;

let server: TestPostgres;
let connection: Connection;
const plans: string[] = [];
beforeAll(async () => {
  server = await startTestPostgres();
  connection = await server.database();
  const queue = await openJobs({
    connection,
    settings: { note: NOTE, other: NOTE },
    searchedMember: 'words',
    onError: () => undefined,
  });
  await queue.stop();
  await rowsOf(
    connection,
    `insert into pgboss.job_common
       (name, data, state, priority, created_on, start_after, completed_on, started_on, output)
     select case when number % 2 = 0 then 'note' else 'other' end,
            json_build_object('words', (number / 10)::text),
            (case number % 10 when 0 then 'created' when 1 then 'created' when 2 then 'retry'
                              when 3 then 'failed' else 'completed' end)::pgboss.job_state,
            -(number / 100), now() - number * interval '1 second',
            case when number % 10 = 2 then now() + interval '1 hour' else now() end,
            now(), now(), '{"message": "no"}'
       from generate_series(1, ${JOBS}) as number`,
  );
  await rowsOf(
    connection,
    `update pgboss.job_common set state = 'active'
      where id in (select id from pgboss.job_common where state = 'created' order by created_on limit 4)`,
  );
  await rowsOf(connection, 'analyze pgboss.job_common');
});
afterAll(() => server.stop());
beforeEach(() => {
  plans.length = 0;
});

/** Keeps the plan of each statement. */
const db = {
  executeSql: async (text: string, values: unknown[] = []) => {
    const plan = await rowsOf(connection, `explain (analyze, buffers, timing off) ${text}`, values);
    plans.push(plan.map((row) => Object.values(row as object)[0]).join('\n'));
    return { rows: await rowsOf(connection, text, values) };
  },
};
type Page = {
  readonly states?: readonly ListedState[];
  readonly after?: JobPosition;
  readonly words?: string;
};
const list = ({ states = LISTED_STATES, after, words }: Page) =>
  listJobs(db, 'words', { queues: ['note', 'other'], states, after, searchedValue: words, limit: 50 });

test.each<[string, Page, number]>([
  ['all', {}, 400],
  ['those that run', { states: ['active'] }, 400],
  ['those that wait', { states: ['waiting'] }, 400],
  ['delayed ones', { states: ['delayed'] }, 4000],
  ['failed ones', { states: ['failed'] }, 400],
  ['those with a value', { words: '2500' }, 100],
])('a page of %s is a walk along an index', async (_, page, maxBuffers) => {
  const { jobs } = await list(page);
  expect(jobs.length).toBeGreaterThan(0);
  for (const plan of plans) expect(plan).not.toContain('Seq Scan on job');
  expect(Math.max(...plans.map(buffersOf))).toBeLessThan(maxBuffers);
});

test('a deep page costs about as much as the first one', async () => {
  const found = await rowsOf(
    connection,
    `select id, priority, created_on::text as created_on from pgboss.job_common
      where name = 'note' and state = 'created' order by priority limit 1 offset 100`,
  );
  const [row] = found as { id: string; priority: number; created_on: string }[];
  if (!row) throw new Error('no job');
  const after = { state: 'waiting', queue: 'note', createdOn: row.created_on, ...row } as const;
  const { jobs } = await list({ states: ['waiting'], after });
  expect(jobs).toHaveLength(50);
  expect(Math.max(...plans.map(buffersOf))).toBeLessThan(400);
});

test('a job is found by its id alone', async () => {
  const [job] = (await list({ states: ['failed'] })).jobs;
  const found = await findJob(db, ['note', 'other'], String(job?.id));
  expect(found).toEqual(job);
  expect(await findJob(db, ['note'], '00000000-0000-4000-8000-000000000000')).toBeUndefined();
  expect(Math.max(...plans.slice(1).map(buffersOf))).toBeLessThan(20);
});
