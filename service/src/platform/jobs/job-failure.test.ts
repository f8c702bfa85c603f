// Tests that a job fails and is retried by its settings, whatever its error says.
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { startTestPostgres, type TestPostgres } from '../../../../test/support/postgres/postgres.ts';
import type { Connection } from '../postgres/connection.ts';
import { type Database, openDatabase } from '../postgres/database.ts';
import { LISTED_STATES } from './job-list.ts';
import { openJobs } from './job-queue.ts';

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

test('the error of a failed job is stored, whatever characters it has', async () => {
  const problems: Error[] = [];
  const queue = await openJobs<{ note: { words: string } }>({
    connection,
    settings: { note: { concurrency: 1, expireIn: 60, retries: 1, retryDelay: 0 } },
    searchedMember: 'words',
    onError: (error) => problems.push(error),
  });
  onTestFinished(queue.stop);
  await db.transaction((tx) => queue.send(tx, 'note', { words: 'any' }));
  await queue.work({
    note: async () => {
      const cause = Object.assign(new Error('half: \ud83d'), { 'a\0name': '\\u0000 stays' });
      throw new Error('null: \0, whole: \u{1f600}', { cause });
    },
  });
  const list = async () =>
    (await queue.control.list({ queues: ['note'], states: [...LISTED_STATES], limit: 10 })).jobs;
  const failed = { state: 'failed', runs: 2 };
  await expect.poll(list, { timeout: 10_000 }).toEqual([expect.objectContaining(failed)]);
  expect((await list())[0]?.output).toMatchObject({
    message: 'null: \ufffd, whole: \u{1f600}',
    cause: { message: 'half: \ufffd', 'a\ufffdname': '\\u0000 stays' },
  });
  expect(problems).toEqual([]);
});
