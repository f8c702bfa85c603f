// Tests how the guarded HTTP client follows redirects.
import { text } from 'node:stream/consumers';
import { afterEach, describe, expect, test } from 'vitest';
import {
  get,
  getText,
  HERE,
  ok,
  redirectTo,
  start,
  stopAll,
} from '../../../../test/support/http/guarded-requests.ts';
import type { ResolveHost } from './resolve-host.ts';

afterEach(stopAll);

describe('a redirect', () => {
  test('is followed, and the final URL returned', async () => {
    const server = await start((socket, request) =>
      (request.path === '/end' ? ok : redirectTo((path) => (path === '/' ? 'next?x' : '/end'), 307))(
        socket,
        request,
      ),
    );
    const response = await get(server);
    expect(response.url).toBe(`http://media.test:${server.port}/end`);
    expect(await text(response.body)).toBe('hello');
    expect(server.requests.map(({ path }) => path)).toEqual(['/', '/next?x', '/end']);
  });

  test('is followed five times, not six', async () => {
    const server = await start((socket, request) => {
      const left = Number(request.path.slice(1));
      (left === 0 ? ok : redirectTo(`/${left - 1}`))(socket, request);
    });
    expect(await getText(server, { path: '/5' })).toBe('hello');
    await expect(get(server, { path: '/6' })).rejects.toMatchObject({ reason: 'too_many_redirects' });
  });

  test('loop ends', async () => {
    const server = await start(redirectTo('/'));
    await expect(get(server)).rejects.toMatchObject({ reason: 'too_many_redirects' });
    expect(server.requests).toHaveLength(6);
  });

  test.each([
    ['http://169.254.169.254/latest/meta-data/', 'private_address'],
    ['http://[::ffff:169.254.169.254]/', 'private_address'],
    ['file:///etc/passwd', 'scheme'],
    ['http://user:password@media.test/', 'credentials'],
    ['http://media.test:22/', 'port'],
    ['http://', 'invalid_url'],
  ])('to %s is refused: %s', async (location, detail) => {
    const server = await start(redirectTo(location));
    await expect(get(server)).rejects.toMatchObject({ reason: 'address_refused', detail });
  });

  test('to a name with a private address is refused', async () => {
    const server = await start(redirectTo('http://internal.test/'));
    const resolve: ResolveHost = async (host) =>
      host === 'media.test' ? HERE : [{ address: '169.254.169.254', family: 4 }];
    await expect(get(server, { resolve })).rejects.toMatchObject({
      reason: 'address_refused',
      detail: 'private_name',
    });
  });

  test('to another origin loses the credentials, within the origin it keeps them', async () => {
    const other = await start(ok);
    const server = await start((socket, request) =>
      redirectTo(request.path === '/' ? '/again' : `http://media.test:${other.port}/`)(socket, request),
    );
    const headers = { Authorization: 'Bearer a', Cookie: 'b', 'X-Api-Key': 'c', Range: 'bytes=0-' };
    await getText(server, { request: { headers } });
    expect(server.requests[1]?.headers).toMatchObject({
      authorization: 'Bearer a',
      cookie: 'b',
      'x-api-key': 'c',
    });
    const sent = other.requests[0]?.headers ?? {};
    expect(sent).toMatchObject({ range: 'bytes=0-' });
    expect(Object.keys(sent)).not.toEqual(expect.arrayContaining(['authorization']));
    expect([sent['authorization'], sent['cookie'], sent['x-api-key']]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
  });

  test('is the response itself for a POST, and where none may be followed', async () => {
    const server = await start(redirectTo('/b'));
    expect(await get(server, { request: { method: 'POST' } })).toMatchObject({ status: 302 });
    expect(await get(server, { limits: { maxRedirects: 0 } })).toMatchObject({ status: 302 });
    expect(server.requests).toHaveLength(2);
  });

  test('may name its target in UTF-8', async () => {
    const server = await start((socket, request) =>
      (request.path === '/' ? redirectTo('/ä') : ok)(socket, request),
    );
    await getText(server);
    expect(server.requests[1]?.path).toBe('/%C3%A4');
  });
});
