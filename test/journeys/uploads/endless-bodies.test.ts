// Clients that go on sending a body that is refused: they are cut off after a bound (contract B2).
import { once } from 'node:events';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openCarelessSocket } from '../../support/http/raw-socket.ts';
import { type RefusingService, startRefusingService } from '../../support/http/refused-bodies.ts';
import { eventually } from '../../support/service.ts';

const MIB = 1024 * 1024;
const MANY_BYTES = 64 * MIB;

let refusing: RefusingService;
beforeAll(async () => {
  refusing = await startRefusingService();
});
afterAll(() => refusing?.service.stop());

const begin = async (length: number) => {
  const socket = await openCarelessSocket(refusing.service.address);
  socket.write(`POST /api/v1/media/upload-url HTTP/1.1\r\nHost: a\r\nContent-Length: ${length}\r\n\r\n`);
  return socket;
};

test('a client that goes on sending is read up to a bound, and then cut off', async () => {
  const socket = await begin(MANY_BYTES);
  const chunk = Buffer.alloc(MIB);
  const pump = () => {
    while (socket.writable && socket.write(chunk));
  };
  socket.on('drain', pump).resume();
  pump();
  await new Promise((resolve) => {
    socket.once('close', resolve);
  });
  // The sockets of both sides hold what the service did not read.
  expect(socket.bytesWritten - socket.writableLength).toBeLessThan(MANY_BYTES / 2);
});

test('a client that goes on sending waits no longer where the limit per address is reached', async () => {
  const sockets = await Promise.all(Array.from({ length: 40 }, () => begin(MANY_BYTES)));
  let answers = 0;
  for (const socket of sockets) socket.on('data', () => answers++);
  const stillOpen = () => sockets.filter(({ readableEnded }) => !readableEnded).length;
  await eventually(
    async () => [answers, stillOpen()],
    ([seen, open = 0]) => seen === 40 && open <= 32,
  );
  expect(stillOpen()).toBe(32);
  for (const socket of sockets) socket.destroy();
});

test('a client keeps its connection after a small body', async () => {
  const socket = await openCarelessSocket(refusing.service.address);
  const head = 'POST /api/v1/media/upload-url HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n{}';
  for (let sent = 0; sent < 3; sent += 1) {
    socket.write(head);
    const [answer] = (await once(socket, 'data')) as [Buffer];
    expect(String(answer)).toMatch(/^HTTP\/1\.1 401 /);
    expect(String(answer).toLowerCase()).not.toContain('connection: close');
  }
  socket.destroy();
});
