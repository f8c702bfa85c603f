// Tests that pooled connections are used again, for the addresses that were checked only.
import { createServer, type Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, expect, test } from 'vitest';
import { createConnectionPool } from './connection-pool.ts';
import { createGuardedFetch } from './guarded-fetch.ts';
import type { ResolveHost } from './resolve-host.ts';

const pool = createConnectionPool({ idleMs: 5000, maxIdlePerOrigin: 2 });
let server: Server | undefined;
afterEach(async () => {
  pool.close();
  server?.closeAllConnections();
  await new Promise((resolve) => {
    server ? server.close(resolve) : resolve(undefined);
  });
});

/** Returns the port, and counts the connections. */
async function start(onRequest: (count: number) => 'answer' | 'begin' | 'reset' = () => 'answer') {
  const seen = { connections: 0, requests: 0, port: 0 };
  server = createServer((request, response) => {
    seen.requests += 1;
    const outcome = onRequest(seen.requests);
    if (outcome === 'reset') request.socket.resetAndDestroy();
    else if (outcome === 'begin') response.writeHead(200, { 'content-length': 2 }).write('o');
    else response.end('ok');
  }).on('connection', () => {
    seen.connections += 1;
  });
  await new Promise<void>((resolve) => {
    server?.listen(0, resolve);
  });
  seen.port = (server.address() as AddressInfo).port;
  return seen;
}

const fetchWith = (resolve: ResolveHost) => createGuardedFetch({ allowPrivate: true, pool, resolve });
const begin = async (fetch: ReturnType<typeof fetchWith>, port: number) =>
  (await fetch({ method: 'POST', url: `http://hooks.test:${port}/`, body: Buffer.from('{}') })).body;
const post = async (fetch: ReturnType<typeof fetchWith>, port: number) => text(await begin(fetch, port));
const localhost: ResolveHost = async () => [{ address: '127.0.0.1', family: 4 }];

test('requests to the same addresses share a connection', async () => {
  const seen = await start();
  const fetch = fetchWith(localhost);
  for (let count = 0; count < 3; count++) expect(await post(fetch, seen.port)).toBe('ok');
  expect(seen).toMatchObject({ requests: 3, connections: 1 });
});

test('a name that leads to another address gets another connection', async () => {
  const seen = await start();
  const addresses = ['127.0.0.1', '127.0.0.2'];
  const fetch = fetchWith(async () => [{ address: addresses.shift() ?? '', family: 4 }]);
  await post(fetch, seen.port);
  await post(fetch, seen.port);
  expect(seen.connections).toBe(2);
});

test('a request on a connection that the server closes is sent on a new one', async () => {
  const seen = await start((count) => (count === 2 ? 'reset' : 'answer'));
  const fetch = fetchWith(localhost);
  await post(fetch, seen.port);
  expect(await post(fetch, seen.port)).toBe('ok');
  expect(seen).toMatchObject({ requests: 3, connections: 2 });
});

test('a request whose response has begun is not sent again when the connection is reset', async () => {
  const sockets: Socket[] = [];
  const seen = await start((count) => (count === 2 ? 'begin' : 'answer'));
  server?.on('request', ({ socket }) => sockets.push(socket));
  const fetch = fetchWith(localhost);
  await post(fetch, seen.port);
  const body = await begin(fetch, seen.port);
  sockets[1]?.resetAndDestroy();
  await expect(text(body)).rejects.toMatchObject({ reason: 'connection_lost' });
  await post(fetch, seen.port);
  expect(seen).toMatchObject({ requests: 3, connections: 2 });
});
