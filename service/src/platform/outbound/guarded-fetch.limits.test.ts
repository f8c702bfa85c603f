// Tests the limits of the guarded HTTP client, and how it takes broken responses.
import { getEventListeners } from 'node:events';
import { buffer } from 'node:stream/consumers';
import { afterEach, describe, expect, test } from 'vitest';
import {
  get,
  getText,
  ok,
  redirectTo,
  start,
  stopAll,
} from '../../../../test/support/http/guarded-requests.ts';
import { type RawScript, renderHead } from '../../../../test/support/http/raw-http-server.ts';

afterEach(stopAll);

describe('a limit', () => {
  const never: RawScript = () => {};

  test('of the name lookup', async () => {
    const server = await start(ok);
    const given = { resolve: () => new Promise<never>(() => {}), limits: { connectMs: 30 } };
    await expect(get(server, given)).rejects.toMatchObject({ reason: 'timeout', detail: 'dns' });
  });

  test('of the handshake', async () => {
    const server = await start(never);
    const request = { url: `https://media.test:${server.port}/` };
    await expect(get(server, { request, limits: { connectMs: 50 } })).rejects.toMatchObject({
      reason: 'timeout',
      detail: 'tls',
    });
  });

  test.each<[string, RawScript]>([
    ['is missing', never],
    ['is cut in two', (socket) => socket.write('HTTP/1.1 200 X\r\nX-A: ')],
    [
      'is always only announced',
      (socket) => void setInterval(() => socket.write('HTTP/1.1 103 X\r\n\r\n'), 5).unref(),
    ],
    [
      'drips',
      (socket) =>
        void setInterval(
          () => socket.write(socket.bytesWritten ? 'x' : 'HTTP/1.1 200 X\r\nX-A: '),
          5,
        ).unref(),
    ],
  ])('of a head that %s', async (_what, script) => {
    const server = await start(script);
    await expect(get(server, { limits: { headMs: 60 } })).rejects.toMatchObject({
      reason: 'timeout',
      detail: 'head',
    });
  });

  test('of endless headers', async () => {
    const server = await start((socket) => {
      socket.write('HTTP/1.1 200 X\r\n');
      const more = () => {
        while (!socket.destroyed && socket.write(`X-${'a'.repeat(1000)}: b\r\n`));
      };
      socket.on('drain', more);
      more();
    });
    await expect(get(server)).rejects.toMatchObject({
      reason: 'invalid_response',
      detail: 'HPE_HEADER_OVERFLOW',
    });
  });

  test('of the size of the head', async () => {
    const server = await start((socket) => socket.end(renderHead(200, { 'X-A': 'a'.repeat(2000) })));
    await expect(get(server, { limits: { maxHeaderBytes: 1000 } })).rejects.toMatchObject({
      detail: 'HPE_HEADER_OVERFLOW',
    });
    expect(await getText(server, { limits: { maxHeaderBytes: 4000 } })).toBe('');
  });

  test('of silence does not count bytes that arrived while the process was busy', async () => {
    const server = await start((socket) => {
      socket.write(`${renderHead(200, { 'Content-Length': 10 })}hello`);
      setTimeout(() => {
        socket.end('hello');
        const until = performance.now() + 300;
        while (performance.now() < until);
      }, 20);
    });
    expect(await getText(server, { limits: { idleMs: 200 } })).toBe('hellohello');
  });

  test('of silence within the body', async () => {
    const server = await start((socket) => socket.write(`${renderHead(200, { 'Content-Length': 9 })}hello`));
    await expect(getText(server, { limits: { idleMs: 40 } })).rejects.toMatchObject({
      reason: 'timeout',
      detail: 'idle',
    });
  });

  test('of the rate', async () => {
    const server = await start((socket) => {
      socket.write(renderHead(200));
      setInterval(() => socket.write('x'), 5).unref();
    });
    const limits = { minRate: { bytes: 1000, windowMs: 60 } };
    await expect(getText(server, { limits })).rejects.toMatchObject({ reason: 'timeout', detail: 'rate' });
  });

  test('of the whole exchange, redirects and body included', async () => {
    const looping = await start(
      (socket, request) => void setTimeout(() => redirectTo('/')(socket, request), 20),
    );
    const limits = { totalMs: 50 };
    await expect(get(looping, { limits })).rejects.toMatchObject({ reason: 'timeout', detail: 'total' });
    const dripping = await start((socket) => {
      socket.write(renderHead(200));
      setInterval(() => socket.write('x'), 5).unref();
    });
    await expect(getText(dripping, { limits })).rejects.toMatchObject({ reason: 'timeout', detail: 'total' });
  });

  test('of the size, whether announced or not', async () => {
    const limits = { maxBodyBytes: 4 };
    const announced = await start(ok);
    await expect(get(announced, { limits })).rejects.toMatchObject({ reason: 'too_large' });
    const endless = await start((socket) => socket.write(`${renderHead(200)}hello`));
    await expect(getText(endless, { limits })).rejects.toMatchObject({ reason: 'too_large' });
    expect(await getText(announced, { limits: { maxBodyBytes: 5 } })).toBe('hello');
  });

  test('leaves nothing behind on the signal of the caller', async () => {
    const { signal } = new AbortController();
    expect(await getText(await start(ok), { request: { signal } })).toBe('hello');
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });

  test('is the signal of the caller, before, within and after the head', async () => {
    const server = await start(
      (socket, { path }) => void (path === '/body' && socket.write(renderHead(200))),
    );
    await expect(get(server, { request: { signal: AbortSignal.abort() } })).rejects.toMatchObject({
      reason: 'aborted',
    });
    const waiting = new AbortController();
    const head = get(server, { request: { signal: waiting.signal } });
    setTimeout(() => waiting.abort(), 20);
    await expect(head).rejects.toMatchObject({ reason: 'aborted' });
    const reading = new AbortController();
    const { body } = await get(server, { path: '/body', request: { signal: reading.signal } });
    reading.abort();
    await expect(buffer(body)).rejects.toMatchObject({ reason: 'aborted' });
  });
});

describe('a response', () => {
  test.each<[string, RawScript]>([
    ['is shorter than announced', (socket) => socket.end(`${renderHead(200, { 'Content-Length': 9 })}hello`)],
    [
      'is reset',
      (socket) =>
        socket.write(`${renderHead(200, { 'Content-Length': 9 })}hello`, () => socket.resetAndDestroy()),
    ],
    [
      'ends within a chunk',
      (socket) => socket.end(`${renderHead(200, { 'Transfer-Encoding': 'chunked' })}9\r\nhello`),
    ],
    [
      'lacks the last chunk',
      (socket) => socket.end(`${renderHead(200, { 'Transfer-Encoding': 'chunked' })}5\r\nhello\r\n`),
    ],
    [
      'has a bad chunk size',
      (socket) => socket.end(`${renderHead(200, { 'Transfer-Encoding': 'chunked' })}zz\r\nhello`),
    ],
  ])('whose body %s is not complete', async (_what, script) => {
    const server = await start(script);
    await expect(getText(server)).rejects.toMatchObject({ reason: 'connection_lost' });
  });

  test('longer than announced ends where it was announced', async () => {
    const server = await start((socket) =>
      socket.end(`${renderHead(200, { 'Content-Length': 5 })}hello world`),
    );
    expect(await getText(server)).toBe('hello');
  });

  test.each([
    ['gzip', { 'Content-Encoding': 'gzip', 'Content-Length': 5 }, 'content_encoding'],
    ['br after identity', { 'Content-Encoding': 'identity, br', 'Content-Length': 5 }, 'content_encoding'],
    ['gzip as transfer', { 'Transfer-Encoding': 'gzip, chunked' }, 'transfer_encoding'],
  ])('in %s is refused', async (_what, headers, detail) => {
    const server = await start((socket) => socket.end(`${renderHead(200, headers)}hello`));
    await expect(get(server)).rejects.toMatchObject({ reason: 'invalid_response', detail });
  });

  test.each([
    ['no HTTP', 'SSH-2.0-OpenSSH_9.6\r\n\r\n'],
    ['two lengths', 'HTTP/1.1 200 X\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello'],
    [
      'a length and chunks',
      'HTTP/1.1 200 X\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
    ],
    ['a bad length', 'HTTP/1.1 200 X\r\nContent-Length: -5\r\n\r\nhello'],
    ['a line feed in a header', 'HTTP/1.1 200 X\r\nX-A: a\nX-B\r\n\r\n'],
  ])('with %s is refused', async (_what, bytes) => {
    const server = await start((socket) => socket.end(bytes));
    await expect(get(server)).rejects.toMatchObject({ reason: 'invalid_response' });
  });

  test.each([
    ['nothing', ''],
    ['an upgrade', 'HTTP/1.1 101 X\r\nConnection: upgrade\r\nUpgrade: h2c\r\n\r\n'],
  ])('that is %s is a lost connection', async (_what, bytes) => {
    const server = await start((socket) => socket.end(bytes));
    await expect(get(server)).rejects.toMatchObject({ reason: 'connection_lost' });
  });

  test('that fails before it is read keeps its error for the reader', async () => {
    const server = await start((socket) =>
      socket.write(renderHead(200, { 'Content-Length': 9 }), () => socket.resetAndDestroy()),
    );
    const { body } = await get(server);
    await expect.poll(() => body.destroyed).toBe(true);
    await expect(buffer(body)).rejects.toMatchObject({ reason: 'connection_lost' });
  });

  test('that nobody reads releases its connection when it is destroyed', async () => {
    const closed = Promise.withResolvers<void>();
    const server = await start((socket) => {
      socket.write(renderHead(200));
      socket.once('close', () => closed.resolve());
    });
    (await get(server)).body.destroy();
    await closed.promise;
  });
});
