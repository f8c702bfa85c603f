// Tests that a pool finds the server that takes writes, and drops its dead connections together.
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { rowsOf, startTestPostgres, type TestPostgres } from '../../../../test/support/postgres/postgres.ts';
import { type Connection, connectClient, toConnection } from './connection.ts';
import { type DatabasePool, openPool } from './connection-pool.ts';

let server: TestPostgres;
let primary: Connection;
/** Takes no writes, as a standby. */
let standby: Connection;
beforeAll(async () => {
  server = await startTestPostgres();
  primary = await server.database();
  standby = await server.database();
  await rowsOf(primary, `alter database ${standby.database} set default_transaction_read_only = on`);
});
afterAll(() => server.stop());

const NOWHERE = '/tmp/mediary-no-such-folder';
const urlOf = ({ host = '', port = 0, user = '', database = '' }: Connection) =>
  `postgres://${user}@/${database}?host=${encodeURIComponent(host)}&port=${port}`;
const serversOf = (...connections: Connection[]): Connection => {
  const servers = connections.map(urlOf);
  return { connectionString: servers[0] as string, servers, isPrimaryOnly: true };
};

function openTestPool(connection: Connection): DatabasePool & { lost: Error[] } {
  const lost: Error[] = [];
  const pool = openPool({
    connection,
    options: { max: 4, query_timeout: 500 },
    session: {},
    onIdleError: (error) => {
      lost.push(error);
    },
  });
  onTestFinished(() => pool.end());
  return { ...pool, lost };
}

const databaseOf = async (pool: DatabasePool) =>
  (await pool.query({ text: 'select current_database() as name' })).rows[0].name;
const pidOf = async (pool: DatabasePool) =>
  (await pool.query({ text: 'select pg_backend_pid() as pid' })).rows[0].pid;

/** Opens connections at the same time, and leaves them idle. */
async function openIdle(pool: DatabasePool, count: number): Promise<number[]> {
  const clients = await Promise.all(Array.from({ length: count }, () => pool.connect()));
  const pids = await Promise.all(
    clients.map(async (client) => (await client.query('select pg_backend_pid() as pid')).rows[0].pid),
  );
  for (const client of clients) pool.release(client);
  return pids;
}

test('a server that is away and a standby are passed over', async () => {
  const pool = openTestPool(serversOf({ ...primary, host: NOWHERE }, standby, primary));
  expect(await databaseOf(pool)).toBe(primary.database);
  expect(await Promise.all([1, 2, 3].map(() => databaseOf(pool)))).toEqual(Array(3).fill(primary.database));
});

test('a URL with several folders of sockets does the same for a single connection', async () => {
  const { host, port, user, database } = primary;
  const url = `postgres://${user}@/${database}?host=${NOWHERE},${host}&port=${port}`;
  const client = await connectClient(toConnection(url), {});
  onTestFinished(() => client.end());
  expect((await client.query('select current_database() as name')).rows).toEqual([
    { name: primary.database },
  ]);
});

test('without a server that takes writes the error is one of an unavailable database', async () => {
  const pool = openTestPool(serversOf(standby, { ...primary, host: NOWHERE }));
  await expect(databaseOf(pool)).rejects.toMatchObject({ code: expect.stringMatching(/^(25006|ENOENT)$/) });
});

test('when one idle connection ends, all idle ones are replaced', async () => {
  const pool = openTestPool(primary);
  const pids = await openIdle(pool, 4);
  await rowsOf(primary, 'select pg_terminate_backend($1)', [pids[0]]);
  await expect.poll(() => pool.counts().total).toBe(0);
  expect(pool.lost).toHaveLength(1);
  expect(pids).not.toContain(await pidOf(pool));
});

test('when a statement finds its server read-only, the other connections are replaced', async () => {
  const pool = openTestPool(primary);
  const pids = await openIdle(pool, 3);
  const write = pool.query({ text: 'begin read only; create table note (words text)' });
  await expect(write).rejects.toMatchObject({ code: '25006' });
  expect(pids).not.toContain(await pidOf(pool));
});

test('a connection in use at that time finishes its work, and is not used again', async () => {
  const pool = openTestPool(primary);
  const busy = await pool.connect();
  const [idle] = await openIdle(pool, 1);
  await rowsOf(primary, 'select pg_terminate_backend($1)', [idle]);
  await expect.poll(() => pool.counts().total).toBe(1);
  expect((await busy.query('select 1 as one')).rows).toEqual([{ one: 1 }]);
  pool.release(busy);
  await expect.poll(() => pool.counts().total).toBe(0);
});

test('a slow statement costs its own connection only', async () => {
  const pool = openTestPool(primary);
  const pids = await openIdle(pool, 3);
  await expect(pool.query({ text: 'select pg_sleep(5)' })).rejects.toThrow('Query read timeout');
  await expect.poll(() => pool.counts()).toMatchObject({ total: 2, idle: 2 });
  expect(pids).toContain(await pidOf(pool));
});

test.each([
  ['a division by zero', 'select 1 / 0', '22012'],
  ['a step of a transaction', 'begin; select 1 / 0; commit', '22012'],
  ['a full disk', "do $$ begin raise exception using errcode = '53100'; end $$", '53100'],
])('a statement that the server refuses costs no connection: %s', async (_what, text, code) => {
  const pool = openTestPool(primary);
  const pids = await openIdle(pool, 3);
  await expect(pool.query({ text })).rejects.toMatchObject({ code });
  expect(pool.counts()).toMatchObject({ total: 3, idle: 3 });
  // Each of them takes the next statement.
  const pidsAfter = await openIdle(pool, 3);
  expect(pidsAfter.toSorted()).toEqual(pids.toSorted());
});
