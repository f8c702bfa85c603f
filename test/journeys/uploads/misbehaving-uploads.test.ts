// Uploads that break the protocol or stop half way: the service survives and serves the next caller.
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { expectRefusal, expectSuccess } from '../../support/http/envelope.ts';
import { IMAGE, openUpload, type Started } from '../../support/media.ts';
import { CHUNKED, openCarelessSocket, readAnswer, request, toChunk } from '../../support/http/raw-socket.ts';
import {
  asUser,
  call,
  eventually,
  expectAlive,
  startTestService,
  type TestService,
} from '../../support/service.ts';
import { filesNaming } from '../../support/service/traces.ts';

const ANN = asUser('ann');
const MUCH = Buffer.alloc(3_000_000, 'more than a socket buffers ');

let service: TestService;
beforeAll(async () => {
  service = await startTestService({ MEDIARY_ROLE: 'api', LOG_LEVEL: 'silent' });
});
afterAll(() => service.stop());

const open = (size?: number): Promise<Started> =>
  openUpload(service, 'ann', { ...IMAGE, ...(size !== undefined && { size_bytes: size }) });
const pathOf = ({ pathname, search }: URL) => `${pathname}${search}`;

/** The head of an upload that goes on. */
async function put(started: Started, ...headers: string[]): Promise<Socket> {
  const socket = await connected();
  socket.write(
    [
      `PUT ${pathOf(new URL(started.upload_url as string))} HTTP/1.1`,
      'Host: a',
      'Content-Type: image/png',
      ...headers,
      '',
      '',
    ].join('\r\n'),
  );
  return socket;
}

const connected = () => openCarelessSocket(service.address);

/** Waits until the service writes the bytes of an upload. */
const isStoring = () =>
  eventually(
    () => filesNaming(join(service.dataDir, 'objects', 'incoming')),
    (files) => files.length > 0,
  );

type Misbehaviour = () => Promise<void>;

const UPLOADS: Readonly<Record<string, Misbehaviour>> = {
  'sends one chunk more than it announced': async () => {
    const socket = await put(await open(10), CHUNKED);
    socket.write(toChunk('0123456789') + toChunk('and more'));
    expectRefusal(await readAnswer(socket), 400);
  },
  'sends megabytes more than it announced and goes on': async () => {
    const socket = await put(await open(10), CHUNKED);
    socket.write(toChunk(MUCH.toString()));
    socket.write(toChunk(MUCH.toString()));
    expectRefusal(await readAnswer(socket), 400);
  },
  'resets the connection in the middle': async () => {
    const started = await open(MUCH.length);
    const socket = await put(started, `Content-Length: ${MUCH.length}`);
    socket.write(MUCH.subarray(0, 1_000_000));
    await isStoring();
    socket.resetAndDestroy();
  },
  'closes its side in the middle': async () => {
    const socket = await put(await open(MUCH.length), `Content-Length: ${MUCH.length}`);
    socket.end(MUCH.subarray(0, 1_000_000));
    expect((await readAnswer(socket)).status).toBe(400);
  },
  'closes its side in the middle of a chunk': async () => {
    const socket = await put(await open(), CHUNKED);
    socket.end('ffff\r\nnot as much');
    expect((await readAnswer(socket)).status).toBe(400);
  },
  'sends a chunk size that is no number': async () => {
    const socket = await put(await open(), CHUNKED);
    socket.write(`${toChunk('good')}zzz\r\nbad\r\n`);
    expect((await readAnswer(socket)).status).toBe(400);
  },
  'sends a chunk longer than its size': async () => {
    const socket = await put(await open(), CHUNKED);
    socket.write('3\r\nfour\r\n0\r\n\r\n');
    expect((await readAnswer(socket)).status).toBe(400);
  },
  'has its asset deleted in the middle': async () => {
    const started = await open(MUCH.length);
    const socket = await put(started, `Content-Length: ${MUCH.length}`);
    socket.write(MUCH.subarray(0, 1_000_000));
    await isStoring();
    expectSuccess(await call(service, `DELETE /media/${started.asset_id}`, { headers: ANN }));
    socket.write(MUCH.subarray(1_000_000));
    await eventually(
      async () => socket.readableLength,
      (length) => length > 0,
    );
    socket.destroy();
  },
  'has an altered ticket and a body without end': async () => {
    const started = await open();
    const socket = await put({ ...started, upload_url: `${started.upload_url}x` }, CHUNKED);
    socket.write(toChunk(MUCH.toString()));
    expectRefusal(await readAnswer(socket), 401);
  },
  'sends the next request behind its body': async () => {
    const socket = await put(await open(4), 'Content-Length: 4');
    socket.write(`four${request('GET /healthz')}`);
    const { all } = await readAnswer(socket);
    expect(all.match(/HTTP\/1\.1 200 /g)).toHaveLength(2);
  },
  'waits for leave to send, and leaves': async () => {
    const socket = await put(await open(4), 'Content-Length: 4', 'Expect: 100-continue');
    expect(String((await once(socket, 'data'))[0])).toMatch(/^HTTP\/1\.1 100 /);
    socket.destroy();
  },
};

describe('an upload that', () => {
  test.each(Object.entries(UPLOADS))('%s', async (_what, misbehave) => {
    await misbehave();
    await expectAlive(service);
  });
});
