// Clients that break the protocol, stop half way or never read: the service survives and serves the next
// caller.
import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { expectSuccess } from '../../support/http/envelope.ts';
import { IMAGE, openUpload, putBytes, type Started } from '../../support/media.ts';
import { CHUNKED, openCarelessSocket, request, sendRaw, toChunk } from '../../support/http/raw-socket.ts';
import { asUser, call, expectAlive, startTestService, type TestService } from '../../support/service.ts';

const ANN = asUser('ann');
const BEARER = `Authorization: ${ANN.authorization}`;
const DOCUMENT = 'GET /api/v1/openapi.json HTTP/1.1\r\nHost: a\r\n\r\n';
const MUCH = Buffer.alloc(3_000_000, 'more than a socket buffers ');

let service: TestService;
let download: URL;
beforeAll(async () => {
  service = await startTestService({ MEDIARY_ROLE: 'api', LOG_LEVEL: 'silent' });
  const stored = await openUpload(service, 'ann', IMAGE);
  expectSuccess(await putBytes(stored, MUCH));
  const { body } = await call<{ url: string }>(service, `GET /media/${stored.asset_id}/download-url`, {
    headers: ANN,
  });
  download = new URL(body.data.url);
});
afterAll(() => service.stop());

const open = (size?: number): Promise<Started> =>
  openUpload(service, 'ann', { ...IMAGE, ...(size !== undefined && { size_bytes: size }) });
const pathOf = ({ pathname, search }: URL) => `${pathname}${search}`;

const connected = () => openCarelessSocket(service.address);

async function sendAndReset(text: string | Uint8Array): Promise<void> {
  const socket = await connected();
  socket.write(text);
  // The service is to have read something of it.
  await call(service, `GET ${service.address}/healthz`);
  socket.resetAndDestroy();
}

async function sendAndHalfClose(text: string): Promise<void> {
  const socket = await connected();
  socket.end(text);
  socket.resume();
  await once(socket, 'close');
}

const statusOf = async (text: string | Uint8Array): Promise<number> =>
  (await sendRaw(service.address, text)).status;

type Misbehaviour = () => Promise<void>;

const PIPELINES: Readonly<Record<string, Misbehaviour>> = {
  'sends 200 requests ahead, reads nothing and resets': () => sendAndReset(DOCUMENT.repeat(200)),
  'sends 200 requests ahead and waits': async () => {
    const socket = await connected();
    socket.write(DOCUMENT.repeat(200));
    await once(socket.resume(), 'close');
  },
  'sends 20 requests ahead and closes its side': () => sendAndHalfClose(DOCUMENT.repeat(20)),
  'sends 20 requests ahead, the last one broken': async () => {
    const { all } = await sendRaw(service.address, `${DOCUMENT.repeat(20)}NO HTTP AT ALL\r\n\r\n`);
    expect(all).toMatch(/^HTTP\/1\.1 /);
  },
  'sends 20 downloads ahead and reads nothing': () =>
    sendAndReset(`GET ${pathOf(download)} HTTP/1.1\r\nHost: a\r\n\r\n`.repeat(20)),
  'stops reading a download in the middle': async () => {
    const socket = await connected();
    socket.write(`GET ${pathOf(download)} HTTP/1.1\r\nHost: a\r\n\r\n`);
    await once(socket, 'data');
    socket.resetAndDestroy();
  },
};

const PROTOCOLS: Readonly<Record<string, Misbehaviour>> = {
  'asks for a WebSocket': async () => {
    const upgrade = [
      'Upgrade: websocket',
      'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
      'Sec-WebSocket-Version: 13',
    ];
    expect(
      await statusOf(
        request('GET /nope', upgrade).replace('Connection: close', 'Connection: Upgrade, close'),
      ),
    ).toBe(404);
  },
  'asks for HTTP/2': async () => {
    expect(await statusOf('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n')).toBe(400);
  },
  'speaks TLS': async () => {
    expect(await statusOf(Buffer.from('16030100c6010000c20303', 'hex'))).toBe(400);
  },
  'asks for a tunnel': async () =>
    expect(await statusOf('CONNECT evil.test:443 HTTP/1.1\r\nHost: a\r\n\r\n')).toBe(404),
  'asks for a tunnel and resets': () =>
    sendAndReset('CONNECT evil.test:443 HTTP/1.1\r\nHost: a\r\n\r\nbytes'),
  'asks for an echo': async () => expect(await statusOf(request('TRACE /healthz'))).toBe(404),
  'expects what nobody knows': async () =>
    expect(await statusOf(request('GET /healthz', ['Expect: a miracle']))).toBe(200),
  'speaks HTTP/1.0': async () => expect(await statusOf('GET /healthz HTTP/1.0\r\n\r\n')).toBe(200),
  'speaks HTTP/1.0 and wants to stay': async () => {
    const socket = await connected();
    socket.write('GET /healthz HTTP/1.0\r\nConnection: keep-alive\r\n\r\n');
    await once(socket, 'data');
    socket.destroy();
  },
  'sends only line ends': () => sendAndReset('\r\n'.repeat(10_000)),
  'sends a head without end': async () =>
    expect(await statusOf(`GET / HTTP/1.1\r\nHost: a\r\nX: ${'x'.repeat(40_000)}`)).toBe(400),
  'sends a thousand headers': async () => {
    const headers = Array.from({ length: 1000 }, (_, index) => `a${index}: b`);
    expect(await statusOf(request('GET /healthz', headers))).toBe(400);
  },
  'names two lengths': async () => {
    const lengths = ['Content-Length: 2', CHUNKED, BEARER];
    expect(await statusOf(request('POST /api/v1/media/upload-url', lengths, '0\r\n\r\n'))).toBe(400);
  },
  'opens and resets fifty connections': async () => {
    await Promise.all(Array.from({ length: 50 }, async () => (await connected()).resetAndDestroy()));
  },
};

const BODIES: Readonly<Record<string, Misbehaviour>> = {
  'resets in the middle of JSON': () =>
    sendAndReset(request('POST /api/v1/media/upload-url', [BEARER, 'Content-Length: 500'], '{"filename":')),
  'closes its side in the middle of JSON': () =>
    sendAndHalfClose(
      request('POST /api/v1/media/upload-url', [BEARER, 'Content-Length: 500'], '{"filename":'),
    ),
  'resets in the middle of a webhook': () =>
    sendAndReset(request('POST /api/v1/webhooks/stream/onprem', [CHUNKED], 'ffff\r\n{')),
  'announces a body for a GET and sends none': () =>
    sendAndReset(request('GET /healthz', ['Content-Length: 1000'])),
  'sends a body to no route': async () =>
    expect(await statusOf(request('POST /nope', [CHUNKED], toChunk(MUCH.toString())))).toBe(404),
};

describe('a client that', () => {
  const KINDS = { ...PIPELINES, ...PROTOCOLS, ...BODIES };
  test.each(Object.entries(KINDS))('%s', async (_what, misbehave) => {
    await misbehave();
    await expectAlive(service);
  });
});

test('other callers are served as before', async () => {
  const started = await open(MUCH.length);
  expectSuccess(await putBytes(started, MUCH));
  expect((await fetch(download)).status).toBe(200);
});
