// Trickling bodies and unread responses are closed after a timeout; slow but steady ones continue.
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { expectRefusal, expectSuccess } from '../support/http/envelope.ts';
import { IMAGE, openUpload, putBytes } from '../support/media.ts';
import { openSocket, readAnswer } from '../support/http/raw-socket.ts';
import {
  asUser,
  call,
  eventually,
  httpServerOf,
  startTestService,
  type TestService,
} from '../support/service.ts';

const BYTES = Buffer.alloc(40_000_000, 'more than the sockets between two processes hold ');

let service: TestService;
let download: URL;
beforeAll(async () => {
  service = await startTestService({ MEDIARY_ROLE: 'api' });
  const started = await openUpload(service, 'ann', IMAGE);
  expectSuccess(await putBytes(started, BYTES));
  const { body } = await call<{ url: string }>(service, `GET /media/${started.asset_id}/download-url`, {
    headers: asUser('ann'),
  });
  download = new URL(body.data.url);
});
afterAll(() => service.stop());

async function ask(head: string): Promise<Socket> {
  const socket = await openSocket(service.address);
  socket.on('error', () => {}); // To be reset is one way of being ended.
  socket.write(`${head} HTTP/1.1\r\nHost: a\r\n`);
  return socket;
}
const openConnections = () =>
  new Promise<number>((resolve, reject) => {
    httpServerOf(service).server.getConnections((error, count) => (error ? reject(error) : resolve(count)));
  });

test('a webhook body must arrive within ten seconds', async () => {
  const socket = await ask('POST /api/v1/webhooks/stream/onprem');
  socket.write('Content-Length: 100000\r\n\r\n');
  const trickle = setInterval(() => socket.write('x'.repeat(1000)), 1000);
  const answer = await readAnswer(socket).finally(() => clearInterval(trickle));
  expect(expectRefusal(answer, 400).details).toEqual({ reason: 'request_too_slow', window_s: 10 });
});

test('an unread download is closed, a slowly read download is not', async () => {
  const line = `GET ${download.pathname}${download.search}`;
  const [unread, slow] = await Promise.all([ask(line), ask(line)]);
  let isSlowClosed = false;
  slow.once('close', () => {
    isSlowClosed = true;
  });
  for (const socket of [unread, slow]) {
    socket.write('\r\n');
    await once(socket, 'readable');
  }
  const reading = setInterval(() => slow.read(1_000_000) ?? slow.read(), 500);
  const before = await openConnections();
  await eventually(openConnections, (count) => count < before, { withinMs: 60_000 });
  clearInterval(reading);
  expect(isSlowClosed).toBe(false);
  slow.destroy();
  unread.destroy();
});
