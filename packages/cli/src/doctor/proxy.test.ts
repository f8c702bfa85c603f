// Tests the findings about proxies that buffer, limit bodies or drop ranges.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createSend } from './exchange.ts';
import { checkProxy } from './proxy.ts';

/** Stands for the service's diagnostics behind a proxy that buffers as told, and refuses large bodies. */
type Proxy = { readonly isBuffering: boolean; readonly maxBytes: number };
let proxy: Proxy;
let server: Server;

beforeAll(async () => {
  server = createServer(async (request, response) => {
    const announced = Number(request.headers['content-length'] ?? 0);
    if (announced > proxy.maxBytes) return response.writeHead(413, { Connection: 'close' }).end();
    if (request.url?.includes('respond=head')) return response.end('{"data":{}}');
    if (request.method === 'POST') return echo(request, response);
    if (request.url?.includes('type=bytes')) return sendRange(response);
    for (let index = 0; index < 4; index += 1) {
      if (!proxy.isBuffering) await sleep(250);
      response.write('data: {}\n\n');
    }
    response.end();
  });
  await new Promise<void>((done) => {
    server.listen(0, '127.0.0.1', done);
  });
});
afterAll(() => server.close());

async function echo(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const chunks: { at_ms: number }[] = [];
  let bytes = 0;
  const start = performance.now();
  for await (const chunk of request) {
    chunks.push({ at_ms: proxy.isBuffering ? 0 : performance.now() - start });
    bytes += chunk.length;
  }
  response.end(JSON.stringify({ data: { body_bytes: bytes, chunks, headers: {} } }));
}

function sendRange(response: ServerResponse): void {
  const file = Buffer.from(Array.from({ length: 65_536 }, (_, index) => index % 251));
  if (proxy.isBuffering) response.writeHead(200, {}).end(file);
  else response.writeHead(206, { 'Content-Range': 'bytes 1000-1999/65536' }).end(file.subarray(1000, 2000));
}

async function check(behaviour: Proxy) {
  proxy = behaviour;
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const send = createSend(new AbortController().signal);
  const findings = await checkProxy(send, { url, operatorKey: 'key', bodyBytes: 2_000_000 });
  return Object.fromEntries(findings.map((finding) => [finding.check, finding.status]));
}

test('a transparent proxy is in order', async () => {
  expect(await check({ isBuffering: false, maxBytes: 20 * 1024 ** 3 })).toEqual({
    'proxy.request_buffering': 'ok',
    'proxy.body_limit': 'ok',
    'proxy.upload_limit': 'ok',
    'proxy.response_buffering': 'ok',
    'proxy.range': 'ok',
  });
});

test('a proxy that buffers, limits bodies and drops ranges is found', async () => {
  expect(await check({ isBuffering: true, maxBytes: 1_000_000 })).toEqual({
    'proxy.request_buffering': 'warning',
    'proxy.body_limit': 'problem',
    'proxy.upload_limit': 'warning',
    'proxy.response_buffering': 'problem',
    'proxy.range': 'problem',
  });
});
