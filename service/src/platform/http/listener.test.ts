// Connections end in an order that a load balancer survives: listener, idle connections, long requests.
import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { closeServer } from './listener.ts';

const FOREVER_MS = 60_000;

let server: Server;
let slow: ServerResponse[];

beforeEach(async () => {
  slow = [];
  server = createServer((request, response) => {
    if (request.url === '/slow') slow.push(response);
    else response.end('ok');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});
afterEach(() => server.closeAllConnections());

async function open(): Promise<Socket> {
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  await once(socket, 'connect');
  return socket;
}

const get = (socket: Socket, path: string) => socket.write(`GET ${path} HTTP/1.1\r\nHost: test\r\n\r\n`);

async function responseTo(socket: Socket, path: string): Promise<string> {
  get(socket, path);
  return String((await once(socket, 'data'))[0]);
}

test('an idle connection is answered once more and then closed; new connections are refused', async () => {
  const idle = await open();
  expect(await responseTo(idle, '/')).toContain('Connection: keep-alive');
  const { port } = server.address() as AddressInfo;
  const closed = closeServer(server, { idleMs: FOREVER_MS, requestsMs: 0 });
  await expect(once(connect(port, '127.0.0.1'), 'connect')).rejects.toThrow('ECONNREFUSED');
  expect(await responseTo(idle, '/')).toContain('connection: close');
  await closed;
});

test('idle connections close at once where no time is left to them', async () => {
  const idle = await open();
  await responseTo(idle, '/');
  await closeServer(server, { idleMs: 0, requestsMs: FOREVER_MS });
  await once(idle.resume(), 'close');
});

test('a request in progress is completed within its time', async () => {
  const socket = await open();
  get(socket, '/slow');
  await once(server, 'request');
  const closed = closeServer(server, { idleMs: 0, requestsMs: FOREVER_MS });
  slow[0]?.end('finished');
  expect(String((await once(socket, 'data'))[0])).toContain('finished');
  await closed;
});

test('a longer request is cut off', async () => {
  const socket = await open();
  get(socket, '/slow');
  await once(server, 'request');
  await closeServer(server, { idleMs: 0, requestsMs: 50 });
  await once(socket.resume(), 'close');
  expect(slow[0]?.writableFinished).toBe(false);
});
