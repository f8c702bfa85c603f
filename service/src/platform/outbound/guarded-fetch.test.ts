// Tests what the guarded HTTP client sends, to which addresses.
import { text } from 'node:stream/consumers';
import { afterEach, describe, expect, test } from 'vitest';
import { makeCertificate } from '../../../../test/support/http/certificate.ts';
import {
  get,
  getText,
  HERE,
  ok,
  redirectTo,
  start,
  stopAll,
} from '../../../../test/support/http/guarded-requests.ts';
import { type RawServer, renderHead } from '../../../../test/support/http/raw-http-server.ts';
import { resolveBySystem } from './resolve-host.ts';

afterEach(stopAll);

describe('a request', () => {
  test('carries the name as Host, asks for identity, and returns status, headers, URL and body', async () => {
    const server = await start((socket) =>
      socket.end(`${renderHead(404, { 'Content-Length': 2, 'X-A': 'b' })}no`),
    );
    const response = await get(server, { path: '/a?b#c', request: { headers: { 'X-Api-Key': 'k' } } });
    expect(response).toMatchObject({ status: 404, url: `http://media.test:${server.port}/a?b#c` });
    expect(response.headers.get('x-a')).toBe('b');
    expect(await text(response.body)).toBe('no');
    expect(server.requests).toMatchObject([
      {
        method: 'GET',
        path: '/a?b',
        headers: {
          host: `media.test:${server.port}`,
          'accept-encoding': 'identity',
          connection: 'close',
          'x-api-key': 'k',
          'user-agent': expect.stringMatching(/^Mediary\//),
        },
      },
    ]);
  });

  test('sends a body', async () => {
    const server = await start(ok);
    const body = Buffer.from('{"a":1}');
    await getText(server, {
      request: { method: 'POST', body, headers: { 'Content-Type': 'application/json' } },
    });
    expect(server.requests).toMatchObject([
      {
        method: 'POST',
        headers: { 'content-length': '7', 'content-type': 'application/json' },
        body: '{"a":1}',
      },
    ]);
  });

  test('cannot override headers of the connection', async () => {
    const server = await start(ok);
    for (const headers of [{ Host: 'internal' }, { 'x-a': 'a\r\nb: c' }, { 'Transfer-Encoding': 'chunked' }])
      await expect(get(server, { request: { headers } })).rejects.toMatchObject({
        reason: 'invalid_request',
      });
    expect(server.connections()).toBe(0);
  });
});

describe('an address', () => {
  test.each([
    ['http://127.0.0.1:PORT/', 'private_address'],
    ['http://2130706433:PORT/', 'private_address'],
    ['http://0x7f.1:PORT/', 'private_address'],
    ['http://0177.0.0.1:PORT/', 'private_address'],
    ['http://[::ffff:127.0.0.1]:PORT/', 'private_address'],
    ['http://media.test:PORT/', 'private_name'],
  ])('that is private is refused before a connection: %s (%s)', async (url, detail) => {
    const server = await start(ok);
    const request = { url: url.replace('PORT', String(server.port)) };
    await expect(get(server, { allowPrivate: false, request })).rejects.toMatchObject({
      reason: 'address_refused',
      detail,
    });
    expect(server.connections()).toBe(0);
  });

  test.each([
    [{ address: '1.1.1.1', family: 4 }, ...HERE],
    [{ address: '169.254.169.254', family: 4 }],
    [{ address: 'fe80::1%eth0', family: 6 }],
    [{ address: '::ffff:10.0.0.1', family: 6 }],
  ])('that a name resolves to is refused: %j', async (...addresses) => {
    const server = await start(ok);
    const resolve = async () => addresses;
    await expect(get(server, { allowPrivate: false, resolve })).rejects.toMatchObject({
      reason: 'address_refused',
    });
  });

  test('is resolved once, so that a second lookup cannot lead elsewhere', async () => {
    const server = await start(ok);
    const answers = [HERE, [{ address: '169.254.169.254', family: 4 }]];
    let lookups = 0;
    const resolve = async () => answers[lookups++] ?? [];
    expect(await getText(server, { resolve })).toBe('hello');
    expect(lookups).toBe(1);
  });

  test('of several is tried after another one does not accept', async () => {
    const server = await start(ok);
    const resolve = async () => [{ address: '::1', family: 6 }, ...HERE];
    expect(await getText(server, { resolve })).toBe('hello');
  });

  test('that does not resolve, and one that does not accept, are different failures', async () => {
    const server = await start(ok);
    const unknown = async () => {
      throw Object.assign(new Error('unknown'), { code: 'ENOTFOUND' });
    };
    await expect(get(server, { resolve: unknown })).rejects.toMatchObject({
      reason: 'dns_failed',
      detail: 'ENOTFOUND',
    });
    await expect(get(server, { resolve: async () => [] })).rejects.toMatchObject({ reason: 'dns_failed' });
    await stopAll();
    await expect(get(server)).rejects.toMatchObject({ reason: 'connect_failed', detail: 'ECONNREFUSED' });
  });
});

test('the resolver of the system is used by default, and checked like any other', async () => {
  const server = await start(ok);
  const request = { url: `http://localhost:${server.port}/` };
  expect(await getText(server, { request, resolve: resolveBySystem })).toBe('hello');
  const refused = get(server, { request, resolve: resolveBySystem, allowPrivate: false });
  await expect(refused).rejects.toMatchObject({ reason: 'address_refused' });
});

describe('TLS', () => {
  const certificate = makeCertificate('media.test');
  const url = ({ port }: RawServer, host = 'media.test') => ({ url: `https://${host}:${port}/` });

  test('verifies the certificate of the name, not of the address', async () => {
    const server = await start(ok, certificate);
    const ca = certificate.cert;
    expect(await getText(server, { ca, request: url(server) })).toBe('hello');
    await expect(get(server, { ca, request: url(server, 'other.test') })).rejects.toMatchObject({
      reason: 'tls_failed',
      detail: 'ERR_TLS_CERT_ALTNAME_INVALID',
    });
  });

  test('refuses an unknown authority, and a server that does not speak it', async () => {
    const secure = await start(ok, certificate);
    await expect(get(secure, { request: url(secure) })).rejects.toMatchObject({ reason: 'tls_failed' });
    const plain = await start((socket) => socket.end('HTTP/1.1 400 X\r\n\r\n'));
    // A plain HTTP server waits for a line end that a handshake may not contain.
    await expect(get(plain, { request: url(plain), limits: { connectMs: 100 } })).rejects.toMatchObject({
      reason: expect.stringMatching(/^(?:tls_failed|timeout)$/),
    });
  });

  test('is not left by a redirect', async () => {
    const plain = await start(ok);
    const server = await start(redirectTo(`http://media.test:${plain.port}/`), certificate);
    await expect(get(server, { ca: certificate.cert, request: url(server) })).rejects.toMatchObject({
      reason: 'address_refused',
      detail: 'downgrade',
    });
    expect(plain.connections()).toBe(0);
  });
});
