// Two thousand clients that hardly send anything are disconnected, without delaying others; slow but steady
// uploads continue.
import { rm } from 'node:fs/promises';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { setInterval as every } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { IMAGE, openUpload, putBytes, type Started } from '../support/media.ts';
import { openSocket } from '../support/http/raw-socket.ts';
import { asUser, call, eventually, tokenOf } from '../support/service.ts';
import { newDatabaseDir } from '../support/service/data-folders.ts';
import { endAllIn, type ServiceProcess, startProcess } from '../support/service/service-process.ts';
import { filesNaming } from '../support/service/traces.ts';

const KINDS = { head: 1300, json: 400, webhook: 200, upload: 100 } as const;
type Kind = keyof typeof KINDS;
const BYTE_EVERY_MS = 3000;
const CLOSED_WITHIN_MS = 15_000;
/** What counts as idle at most, on a machine where other work makes single answers late. */
const IDLE_AT_LEAST_MS = 15;

let dataDir: string;
let service: ServiceProcess;
let uploads: Started[];
let idle: number;
let beside: number;
let slow: Slow[];
let honest: Promise<{ status: number }>;

beforeAll(async () => {
  dataDir = await newDatabaseDir();
  service = await startProcess({ DATA_DIR: dataDir, MEDIARY_ROLE: 'api' });
  uploads = await Promise.all(Array.from({ length: KINDS.upload }, () => openUpload(service, 'ann', IMAGE)));
  const { asset_id: id } = await openUpload(service, 'ann', IMAGE);
  let isOver = false;
  const pulse = latencies(id, () => isOver);
  await eventually(
    async () => pulse.seen.length,
    (count) => count > 3000,
  );
  isOver = true;
  idle = p99(await pulse.done);

  honest = sendSlowly(await openUpload(service, 'ann', { ...IMAGE, size_bytes: 15 * 1024 }));
  const all = Promise.all(
    Object.entries(KINDS).flatMap(([kind, count]) =>
      Array.from({ length: count }, (_, number) => dawdle(kind as Kind, number)),
    ),
  );
  let areEnded = false;
  const busy = latencies(id, () => areEnded);
  slow = await all;
  areEnded = true;
  beside = p99(await busy.done);
});

afterAll(async () => {
  await service?.end('SIGKILL');
  await endAllIn(dataDir);
  await rm(dataDir, { recursive: true, force: true, maxRetries: 5 });
});

const p99 = (times: readonly number[]): number =>
  times.toSorted((a, b) => a - b)[Math.floor(times.length * 0.99)] ?? Number.NaN;

/** How long a caller waits who asks again and again, two at a time. */
function latencies(id: string, isOver: () => boolean): { seen: number[]; done: Promise<number[]> } {
  const seen: number[] = [];
  const lane = async () => {
    while (!isOver()) {
      const asked = performance.now();
      expect((await call(service, `GET /media/${id}`, { headers: asUser('ann') })).status).toBe(200);
      seen.push(performance.now() - asked);
    }
  };
  return { seen, done: Promise.all([lane(), lane()]).then(() => seen) };
}

type Slow = { readonly kind: Kind; readonly ms: number; readonly answer: string };

const HEADS: Readonly<Record<Kind, (number: number) => string>> = {
  head: () => 'GET /api/v1/media HTTP/1.1\r\nHost: a\r\nX-Slow: ',
  json: () =>
    `POST /api/v1/media/upload-url HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${tokenOf('ann')}\r\n` +
    'Content-Type: application/json\r\nContent-Length: 200\r\n\r\n',
  webhook: () =>
    'POST /api/v1/webhooks/stream/onprem HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nffff\r\n',
  upload: (number) => {
    const { pathname, search } = new URL(uploads[number]?.upload_url ?? '');
    const headers = 'Host: a\r\nContent-Type: image/png\r\nContent-Length: 1000000\r\n\r\n';
    return `PUT ${pathname}${search} HTTP/1.1\r\n${headers}`;
  },
};

/** A byte now and then, until the service hangs up. */
async function dawdle(kind: Kind, number: number): Promise<Slow> {
  const socket = await openSocket(service.url);
  const opened = performance.now();
  let answer = '';
  socket.on('error', () => {}); // To be cut off is what it is here for.
  socket.setEncoding('utf8').on('data', (text) => {
    answer += text;
  });
  socket.write(HEADS[kind](number));
  const trickle = setInterval(() => {
    socket.write('x');
  }, BYTE_EVERY_MS);
  await closed(socket);
  clearInterval(trickle);
  return { kind, ms: performance.now() - opened, answer };
}

const closed = (socket: Socket) =>
  new Promise((resolve) => {
    socket.once('close', resolve);
  });

/** A kilobyte each second, as from far out in the country. */
function sendSlowly({ upload_url: url, upload }: Started): Promise<{ status: number }> {
  const body = new ReadableStream<Uint8Array>({
    pull: async (stream) => {
      let sent = 0;
      for await (const kilobyte of every(1000, Buffer.alloc(1024, 'slow'))) {
        stream.enqueue(kilobyte);
        if (++sent === 15) break;
      }
      stream.close();
    },
  });
  return fetch(
    url as string,
    { method: 'PUT', headers: upload?.headers ?? {}, body, duplex: 'half' } as RequestInit,
  );
}

test('other requests take at most three times as long', () => {
  expect(beside).toBeLessThanOrEqual(3 * Math.max(idle, IDLE_AT_LEAST_MS));
});

test('each slow client is disconnected within 15 s with a reason', () => {
  expect(slow).toHaveLength(2000);
  for (const { kind, ms, answer } of slow) {
    expect(ms, kind).toBeLessThan(CLOSED_WITHIN_MS);
    expect(answer, kind).toMatch(/^HTTP\/1\.1 400 /);
    expect(JSON.parse(answer.slice(answer.indexOf('\r\n\r\n'))), kind).toMatchObject({
      code: 400,
      error: { error_code: 'BAD_REQUEST', details: { reason: 'request_too_slow' } },
    });
  }
});

test('an upload at 1 kB/s continues', async () => {
  expect((await honest).status).toBe(200);
});

test('aborted uploads leave no files and can start again at once', async () => {
  expect(
    await eventually(
      () => filesNaming(join(dataDir, 'objects', 'incoming')),
      ({ length }) => length === 0,
    ),
  ).toEqual([]);
  for (const { asset_id: id } of uploads) expect(await filesNaming(join(dataDir, 'objects'), id)).toEqual([]);
  expect(
    (await Promise.all(uploads.map((upload) => putBytes(upload, Buffer.from('bytes'))))).map(
      ({ status }) => status,
    ),
  ).toEqual(uploads.map(() => 200));
});
