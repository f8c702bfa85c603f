// Temporary.
import { expect, test } from 'vitest';
import { startTestPostgres, rowsOf } from './support/postgres.ts';
import { openJobs } from '../service/src/platform/jobs.ts';
import { openDatabase } from '../service/src/platform/postgres/database.ts';
test('dbg', async () => {
  const server = await startTestPostgres();
  const connection = await server.database('jobs');
  const db = openDatabase({ connection, onIdleError: () => undefined });
  const queue = await openJobs<{ note: { words: string } }>({ connection, settings: { note: { concurrency: 3, expireIn: 60, retries: 5, retryDelay: Number(process.env['RD'] ?? 0) } }, onError: (e) => console.log('ERR', e) });
  const ran: string[] = [];
  const t0 = Date.now();
  await queue.work({ note: async ({ payload }) => { ran.push(`${Date.now() - t0} ${payload.words}`); console.log(ran.at(-1)); if (ran.length < 3) throw new Error('not yet'); } });
  await db.transaction((tx) => queue.send(tx, 'note', { words: 'x' }));
  for (let i = 0; i < 20; i++) { await new Promise((r) => setTimeout(r, 1000)); if (ran.length >= 3) break; }
  console.log(await rowsOf(connection, 'select state, retry_count, retry_limit, retry_delay, retry_backoff, start_after, now(), output, policy from pgboss.job'));
  console.log(JSON.stringify(await rowsOf(connection, 'select * from pgboss.queue where name=$1', ['note'])));
  await queue.stop(); await db.close(); await server.stop();
  expect(1).toBe(1);
}, 120_000);
