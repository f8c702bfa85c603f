// Tests that a slow reader of a body does not look like a slow peer.
import { buffer } from 'node:stream/consumers';
import { afterEach, expect, test } from 'vitest';
import { get, ok, start, stopAll } from '../../../../test/support/http/guarded-requests.ts';
import { renderHead } from '../../../../test/support/http/raw-http-server.ts';

afterEach(stopAll);

test('the time of a limit does not count while the reader is slow', async () => {
  const size = 2 * 1024 * 1024;
  const server = await start((socket) => {
    socket.write(renderHead(200, { 'Content-Length': size }));
    socket.end(Buffer.alloc(size));
  });
  const minRate = { bytes: size / 8, windowMs: 100 };
  const limits = { idleMs: 100, minRate, maxBodyBytes: size };
  const { body } = await get(server, { limits });
  const iterator = body[Symbol.asyncIterator]();
  await iterator.next();
  await new Promise((resolve) => setTimeout(resolve, 300));
  let received = 0;
  for await (const chunk of { [Symbol.asyncIterator]: () => iterator }) received += chunk.length;
  expect(received).toBeGreaterThan(size - 128 * 1024);
});

test('a complete body is not silent, however late its reader takes the last bytes', async () => {
  const server = await start(ok);
  const { body } = await get(server, { limits: { idleMs: 40 } });
  body.read(0);
  await new Promise((resolve) => setTimeout(resolve, 120));
  expect(String(await buffer(body))).toBe('hello');
});
