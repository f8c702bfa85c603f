// Tests which requests are answered from the cache, and that all others reach their route.
import { once } from 'node:events';
import {
  createServer,
  request as send,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { sendCachedFirst } from './cached-responses.ts';

const CACHED = {
  headers: ['content-type', 'video/mp4', 'content-length', '5'],
  body: Buffer.from('bytes'),
};

let server: Server;
beforeAll(async () => {
  const find = ({ url }: { url: string | undefined }) => (url === '/cached' ? CACHED : undefined);
  server = createServer(sendCachedFirst(find, (_request, response) => response.end('route')));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});
afterAll(() => server.close());

type Asked = {
  readonly path?: string;
  readonly method?: string;
  readonly headers?: readonly string[];
  readonly body?: string;
};

async function ask({ path = '/cached', method = 'GET', headers = [], body }: Asked = {}) {
  const { port } = server.address() as AddressInfo;
  const request = send({ host: '127.0.0.1', port, path, method, headers: ['Host', 'test', ...headers] });
  request.end(body);
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  return { status: response.statusCode, headers: response.headers, body: await text(response) };
}

test('a plain GET gets the cached response with a request id of its own', async () => {
  const [first, second] = [await ask(), await ask()];
  expect(first).toMatchObject({
    status: 200,
    headers: { 'content-type': 'video/mp4', 'content-length': '5' },
    body: 'bytes',
  });
  expect(first.headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/);
  expect(second.headers['x-request-id']).not.toBe(first.headers['x-request-id']);
});

test('the request id of the client is returned', async () => {
  const { headers, body } = await ask({ headers: ['X-Request-Id', 'from-the-proxy'] });
  expect([headers['x-request-id'], body]).toEqual(['from-the-proxy', 'bytes']);
});

test('a server that closes ends the connection after the response', async () => {
  const close = (_request: IncomingMessage, response: ServerResponse) =>
    response.setHeader('connection', 'close');
  server.prependListener('request', close);
  const { headers, body } = await ask();
  server.removeListener('request', close);
  expect([headers.connection, headers['content-length'], body]).toEqual(['close', '5', 'bytes']);
});

test.each<[string, Asked]>([
  ['another path', { path: '/other' }],
  ['another method', { method: 'POST' }],
  ['a range', { headers: ['Range', 'bytes=0-1'] }],
  ['a condition', { headers: ['If-None-Match', '"a"'] }],
  ['a body', { headers: ['Content-Length', '1'], body: 'x' }],
  ['a body of unknown length', { headers: ['Transfer-Encoding', 'chunked'], body: 'x' }],
  ['two hosts', { headers: ['Host', 'another'] }],
])('%s reaches the route', async (_what, asked) => {
  expect((await ask(asked)).body).toBe('route');
});
