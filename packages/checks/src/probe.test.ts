// Requests of the diagnostics: what was sent, what came back when, and why nothing came.
import { afterEach, expect, test } from 'vitest';
import { makeCertificate } from '../../../test/support/http/certificate.ts';
import { type RawServer, renderHead, startRawServer } from '../../../test/support/http/raw-http-server.ts';
import { sendProbe } from './probe.ts';

let server: RawServer | undefined;
afterEach(() => server?.stop());

const get = (url: string, timeoutMs = 5000) => sendProbe({ method: 'GET', url, timeoutMs });

test('returns the response to a body that never ends, and sends what it announced', async () => {
  server = await startRawServer((socket) => socket.write(`${renderHead(413, { 'Content-Length': 2 })}no`));
  const probed = await sendProbe({
    method: 'POST',
    url: `http://127.0.0.1:${server.port}/`,
    body: { announcedBytes: 10_000_000_000, parts: [{ afterMs: 0, bytes: new Uint8Array(1) }] },
    timeoutMs: 5000,
  });
  expect(probed).toMatchObject({ status: 413, body: Buffer.from('no') });
  expect(server.requests[0]?.headers).toMatchObject({
    'content-length': '10000000000',
    'accept-encoding': 'identity',
  });
});

test('does not follow redirects', async () => {
  server = await startRawServer((socket) =>
    socket.write(renderHead(302, { Location: 'http://192.0.2.1/', 'Content-Length': 0 })),
  );
  expect(await get(`http://127.0.0.1:${server.port}/`)).toMatchObject({ status: 302 });
});

test('names the phase and the code of a failure', async () => {
  expect(await get('http://127.0.0.1:1/')).toEqual({
    failure: 'error',
    phase: 'connect',
    code: 'ECONNREFUSED',
  });
  server = await startRawServer((socket) => socket.destroy());
  expect(await get(`http://127.0.0.1:${server.port}/`)).toMatchObject({
    failure: 'error',
    phase: 'response',
  });
});

test('names what is wrong with a certificate', async () => {
  server = await startRawServer(() => {}, makeCertificate('localhost'));
  expect(await get(`https://localhost:${server.port}/`)).toMatchObject({
    failure: 'error',
    code: 'DEPTH_ZERO_SELF_SIGNED_CERT',
  });
});

test('gives up after its time', async () => {
  server = await startRawServer(() => {});
  expect(await get(`http://127.0.0.1:${server.port}/`, 50)).toEqual({
    failure: 'timeout',
    phase: 'response',
    code: undefined,
  });
});
