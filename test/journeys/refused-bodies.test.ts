// A body that is refused while it is still sent: clients read the response, and floods are cut off (contract
// B2). test/clients does the same with other clients.
import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { unavailable } from '../../service/src/platform/errors.ts';
import { openCarelessSocket } from '../support/raw-socket.ts';
import {
  REFUSED,
  type RefusingService,
  runClient,
  startRefusingService,
  TRIES,
} from '../support/refused-bodies.ts';
import { eventually, IS_BEHIND_NGINX } from '../support/service.ts';

const MIB = 1024 * 1024;
const MANY_BYTES = 64 * MIB;

let refusing: RefusingService;
beforeAll(async () => {
  refusing = await startRefusingService();
});
afterAll(() => refusing?.service.stop());

const FETCH = `
const [method, url, headers, path, tries] = JSON.parse(process.argv[1]);
const body = require('node:fs').readFileSync(path);
(async () => {
  for (let tried = 0; tried < tries; tried += 1)
    await fetch(url, { method, headers, body })
      .then(({ status }) => console.log(status), ({ cause }) => console.log(cause));
})();
`;

const expectRead = async (name: (typeof REFUSED)[number], status: number) =>
  expect(await runClient(process.execPath, ['-e', FETCH, refusing.toArgument(name)])).toEqual(
    Array.from({ length: TRIES }, () => String(status)),
  );

test.each(REFUSED)('fetch reads the response to %s each time', async (name) => {
  await expectRead(name, refusing.refusals[name].status);
});

test('fetch reads the 503 to a PUT while the database is not available', async () => {
  const { db } = refusing.service.adapters;
  const { all, one } = db;
  const fail = () => Promise.reject(unavailable('The database is not available', new Error('planned')));
  Object.assign(db, { all: fail, one: fail });
  await expectRead('a PUT of other bytes', 503).finally(() => Object.assign(db, { all, one }));
});

describe.skipIf(IS_BEHIND_NGINX)('a client that goes on sending', () => {
  const begin = async (length: number) => {
    const socket = await openCarelessSocket(refusing.service.address);
    socket.write(`POST /api/v1/media/upload-url HTTP/1.1\r\nHost: a\r\nContent-Length: ${length}\r\n\r\n`);
    return socket;
  };

  test('is read up to a bound, and then cut off', async () => {
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

  test('waits no longer where the limit per address is reached', async () => {
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

  test('keeps the connection after a small body', async () => {
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
});
