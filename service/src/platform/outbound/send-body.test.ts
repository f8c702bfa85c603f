// Tests what a receiver gets, and how a request without a response ends.
import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect, onTestFinished, test } from 'vitest';
import { type BodyRequest, sendBody } from './send-body.ts';

async function startReceiver(handle: RequestListener): Promise<string> {
  const server = createServer(handle).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(async () => {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/upload`;
}

async function* repeat(chunk: Buffer, times: number): AsyncGenerator<Buffer> {
  for (let n = 0; n < times; n++) yield chunk;
}

const toRequest = (url: string, more: Partial<BodyRequest> = {}): BodyRequest => ({
  method: 'PATCH',
  url,
  headers: { 'x-name': 'value' },
  length: 10,
  bytes: repeat(Buffer.from('ab'), 5),
  signal: new AbortController().signal,
  ...more,
});
/** More than the buffers of both sides hold. */
const LARGE = { length: 64 * 1024 * 1024 };
const largeBytes = () => repeat(Buffer.alloc(1024 * 1024), 64);

test('the body arrives with its length, and the response is returned', async () => {
  const seen: { request?: IncomingMessage; body?: string } = {};
  const url = await startReceiver(async (request, response) => {
    Object.assign(seen, { request, body: await text(request) });
    response.writeHead(204, { 'upload-offset': '10' }).end();
  });
  const response = await sendBody(toRequest(url));
  expect(response).toMatchObject({ status: 204 });
  expect('headers' in response && response.headers.get('upload-offset')).toBe('10');
  expect(seen.body).toBe('ababababab');
  expect(seen.request?.headers).toMatchObject({ 'content-length': '10', 'x-name': 'value' });
  expect(seen.request?.headers).not.toHaveProperty('transfer-encoding');
});

test('a request without a body has no length', async () => {
  let headers: IncomingMessage['headers'] = {};
  const url = await startReceiver((request, response) => {
    headers = request.headers;
    response.writeHead(200, { 'upload-offset': '3' }).end();
  });
  const request = toRequest(url, { method: 'HEAD', length: undefined, bytes: repeat(Buffer.alloc(0), 0) });
  expect(await sendBody(request)).toMatchObject({ status: 200 });
  expect(headers).not.toHaveProperty('content-length');
});

test('a refusal that comes before the whole body is the response', async () => {
  const url = await startReceiver((_request, response) => {
    response.writeHead(413).end('too much');
  });
  const response = await sendBody(toRequest(url, { ...LARGE, bytes: largeBytes() }));
  expect(response).toMatchObject({ status: 413 });
});

test('a connection that is cut is a failure', async () => {
  const url = await startReceiver((request) => {
    request.once('data', () => request.destroy());
  });
  const response = await sendBody(toRequest(url, { ...LARGE, bytes: largeBytes() }));
  expect(response).toMatchObject({ failure: 'unreachable' });
});

test('a receiver that changes the protocol is a failure', async () => {
  const url = await startReceiver(({ socket }) => {
    socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: other\r\n\r\n');
  });
  expect(await sendBody(toRequest(url))).toMatchObject({ failure: 'unreachable' });
});

test('a receiver that does not exist is a failure', async () => {
  expect(await sendBody(toRequest('http://127.0.0.1:1/'))).toMatchObject({ failure: 'unreachable' });
});

test.each([
  ['that reads nothing', { ...LARGE, bytes: largeBytes() }],
  ['that never responds', {}],
])('a receiver %s is a timeout', async (_case, more) => {
  const url = await startReceiver(() => {});
  expect(await sendBody(toRequest(url, more), 200)).toMatchObject({ failure: 'timeout' });
});

test('an abort ends the request with its reason, and closes the connection', async () => {
  const closed = Promise.withResolvers<void>();
  const ending = new AbortController();
  const url = await startReceiver((request) => {
    request.socket.once('close', () => closed.resolve());
    request.once('data', () => ending.abort(new Error('not needed any more')));
  });
  const sending = sendBody(toRequest(url, { ...LARGE, bytes: largeBytes(), signal: ending.signal }));
  await expect(sending).rejects.toThrow('not needed any more');
  await closed.promise;
});

test('an error of the source is thrown, and is no failure of the receiver', async () => {
  const url = await startReceiver((request) => request.resume());
  async function* fail(): AsyncGenerator<Buffer> {
    yield Buffer.alloc(5);
    throw new Error('the store is down');
  }
  await expect(sendBody(toRequest(url, { bytes: fail() }))).rejects.toThrow('the store is down');
});
