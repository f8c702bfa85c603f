// Tests that the job queue gives up statements on a lost connection, and goes on with a new one.
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { startTestPostgres, type TestPostgres } from '../../../../test/support/postgres/postgres.ts';
import type { Connection } from './connection.ts';
import { openJobDatabase } from './job-database.ts';

let server: TestPostgres;
let connection: Connection;
beforeAll(async () => {
  server = await startTestPostgres();
  connection = await server.database();
});
afterAll(() => server.stop());

/** A proxy before the server. `loseAll`: its connections stay open, and pass on no more bytes. */
async function startProxy(): Promise<{ readonly connection: Connection; readonly loseAll: () => void }> {
  const { host, port } = connection as { host: string; port: number };
  const sockets = new Set<Socket>();
  const proxy = createServer((client) => {
    const upstream = connect(`${host}/.s.PGSQL.${port}`);
    client.pipe(upstream).pipe(client);
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on('error', () => socket.destroy());
    }
  }).listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    proxy.close();
  });
  return {
    connection: { ...connection, host: '127.0.0.1', port: (proxy.address() as AddressInfo).port },
    loseAll: () => {
      for (const socket of sockets) socket.unpipe().resume();
    },
  };
}

test('a statement on a lost connection fails, and the next one gets another connection', async () => {
  const proxy = await startProxy();
  const db = openJobDatabase({ connection: proxy.connection, onError: () => {}, timeoutMs: 500 });
  onTestFinished(db.close);
  const select = () => db.executeSql('select 1 as one');
  expect((await select()).rows).toEqual([{ one: 1 }]);
  proxy.loseAll();
  await expect(select()).rejects.toThrow('Query read timeout');
  expect((await select()).rows).toEqual([{ one: 1 }]);
});

test('maintenance may take longer than a single statement', async () => {
  const db = openJobDatabase({ connection, onError: () => {}, timeoutMs: 300 });
  onTestFinished(db.close);
  await expect(db.executeSql('select pg_sleep(1)')).rejects.toThrow('Query read timeout');
  await db.executeSql('begin; select pg_sleep(1); commit');
});
