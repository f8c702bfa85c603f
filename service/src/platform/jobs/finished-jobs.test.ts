// Tests that completed jobs are deleted after their hours, failed ones are not, and nothing counts all jobs.
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { rowsOf, startTestPostgres, type TestPostgres } from '../../../../test/support/postgres/postgres.ts';
import type { Connection } from '../postgres/connection.ts';
import { type JobDatabase, openJobDatabase } from '../postgres/job-database.ts';
import { deleteCompletedJobs } from './finished-jobs.ts';
import { openJobs } from './job-queue.ts';

const HOUR_S = 3600;
const RETENTION = { completedSeconds: 4 * HOUR_S, failedSeconds: 168 * HOUR_S };

let server: TestPostgres;
let connection: Connection;
let db: JobDatabase;
beforeAll(async () => {
  server = await startTestPostgres();
  connection = await server.database();
  const queue = await openQueue();
  await queue.stop();
  db = openJobDatabase({ connection, onError: () => {} });
});
afterAll(async () => {
  await db.close();
  await server.stop();
});

const openQueue = () =>
  openJobs<{ note: { words?: string } }>({
    connection,
    settings: { note: { concurrency: 1, expireIn: 60, retries: 0, retryDelay: 1 } },
    retention: RETENTION,
    searchedMember: 'words',
    onError: () => {},
  });

/** Jobs that ended `hours` ago. */
const insert = (state: string, hours: number, count: number) =>
  rowsOf(
    connection,
    `insert into pgboss.job_common (name, data, state, completed_on)
     select 'note', '{}', $1, now() - make_interval(hours => $2) from generate_series(1, $3)`,
    [state, hours, count],
  );
const countByState = async () =>
  Object.fromEntries(
    (await rowsOf(connection, 'select state::text, count(*)::int from pgboss.job_common group by state')).map(
      ({ state, count }) => [state, count],
    ),
  );

test('completed jobs are deleted after their hours, in batches; failed ones stay', async () => {
  await insert('completed', 5, 12_000);
  await insert('completed', 3, 20);
  await insert('failed', 100, 10);
  await deleteCompletedJobs(db, RETENTION);
  expect(await countByState()).toEqual({ completed: 20, failed: 10 });
});

test('two processes delete at the same time without waiting for each other', async () => {
  await insert('completed', 5, 12_000);
  await Promise.all([deleteCompletedJobs(db, RETENTION), deleteCompletedJobs(db, RETENTION)]);
  expect(await countByState()).toEqual({ completed: 20, failed: 10 });
});

test('the queue does not count the jobs of the whole table', async () => {
  const queue = await openQueue();
  onTestFinished(queue.stop);
  const claimed =
    "select monitor_claim_on is not null as claimed, monitor_on from pgboss.queue where name = 'note'";
  await queue.maintain();
  expect(await rowsOf(connection, claimed)).toEqual([{ claimed: true, monitor_on: null }]);
});
