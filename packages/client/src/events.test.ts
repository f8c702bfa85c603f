// Event streams and waiting, against a server that breaks them.
import type { ServerResponse } from 'node:http';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import {
  answer,
  type ApiServer,
  openEvents,
  refuse,
  startApiServer,
  writeEvent,
} from './api-server.fixture.ts';
import { createMediary } from './mediary.ts';
import type { MediaryOptions } from './transport.ts';

let server: ApiServer;
beforeAll(async () => {
  server = await startApiServer();
});
afterAll(() => server.close());

const connect = (credential: Pick<MediaryOptions, 'token' | 'serviceKey'> = { serviceKey: 'key' }) =>
  createMediary({ baseUrl: server.url, ...credential });
const EXPIRED = { status: 401, code: 'UNAUTHORIZED', details: { reason: 'expired' } };
const asset = (stream_status: string, more: object = {}) => ({
  id: 'a',
  deleted_at: null,
  stream_status,
  ...more,
});

describe('stream', () => {
  test('connects again after the last event when the stream breaks', async () => {
    const answers: ((response: ServerResponse) => void)[] = [
      (response) => {
        openEvents(response);
        writeEvent(response, 'p1', { id: 'e1' });
        response.write('id: p1b\n\n');
        response.write('id: p2\ndata: {"id":"cut"', () => response.destroy());
      },
      (response) => refuse(response, { status: 503, code: 'UNAVAILABLE' }),
      (response) => {
        openEvents(response);
        writeEvent(response, 'p2', { id: 'e2' });
      },
    ];
    server.handle((_request, response) => answers.shift()?.(response));
    const seen: string[] = [];
    for await (const { id, position } of connect().events.stream({
      ownerUserId: 'ann',
      lastEventId: 'p0',
    })) {
      seen.push(`${id} ${position}`);
      if (seen.length === 2) break;
    }
    expect(seen).toEqual(['e1 p1', 'e2 p2']);
    expect(server.requests.map(({ headers }) => headers['last-event-id'])).toEqual(['p0', 'p1b', 'p1b']);
    expect(server.requests[0]).toMatchObject({
      path: '/api/v1/events?owner_user_id=ann',
      headers: { accept: 'text/event-stream', 'x-service-key': 'key' },
    });
  });
  test('ends with an error that another connection cannot mend', async () => {
    server.handle((_request, response) => refuse(response, { status: 403, code: 'FORBIDDEN' }));
    await expect(connect().media.events('1').next()).rejects.toMatchObject({ errorCode: 'FORBIDDEN' });
    server.handle((_request, response) => answer(response, {}));
    await expect(connect().media.events('1').next()).rejects.toMatchObject({ errorCode: 'INVALID_RESPONSE' });
  });
  describe('where the token expires', () => {
    test('asks the source for another one, also after a stream that ended', async () => {
      server.handle(({ headers }, response) => {
        if (headers.authorization === 'Bearer 2') return refuse(response, EXPIRED);
        openEvents(response);
        const position = `p${server.requests.length}`;
        writeEvent(response, position, { id: position });
        response.end();
      });
      let count = 0;
      const seen: string[] = [];
      for await (const { id } of connect({ token: () => String(++count) }).media.events('1')) {
        seen.push(id);
        if (seen.length === 2) break;
      }
      expect(seen).toEqual(['p1', 'p3']);
    });
    test('rejects if the source has no other one, or there is none', async () => {
      server.handle((_request, response) => refuse(response, EXPIRED));
      for (const [token, attempts] of [[() => '2', 2] as const, ['2', 1] as const]) {
        server.requests.length = 0;
        const event = connect({ token }).media.events('1').next();
        await expect(event).rejects.toMatchObject({ reason: 'expired' });
        expect(server.requests).toHaveLength(attempts);
      }
    });
  });
  test('rejects with the reason of the signal, and closes the connection', async () => {
    const controller = new AbortController();
    const closed = new Promise((resolve) => {
      server.handle((_request, response) => {
        response.on('close', resolve);
        openEvents(response);
        setTimeout(() => controller.abort('enough'), 20);
      });
    });
    await expect(connect().events.stream({ signal: controller.signal }).next()).rejects.toBe('enough');
    await closed;
  });
  test('takes silence for a broken connection', async () => {
    vi.useFakeTimers();
    const connections: AbortSignal[] = [];
    const fetchStub: typeof fetch = async (_input, init) => {
      const signal = init?.signal as AbortSignal;
      connections.push(signal);
      const body = new ReadableStream({
        start: (controller) => signal.addEventListener('abort', () => controller.error(signal.reason)),
      });
      return new Response(body, { headers: { 'content-type': 'text/event-stream' } });
    };
    const controller = new AbortController();
    const { events } = createMediary({ baseUrl: server.url, fetch: fetchStub });
    const ended = expect(events.stream({ signal: controller.signal }).next()).rejects.toBe('enough');
    await vi.advanceTimersByTimeAsync(44_000);
    expect(connections).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(2_000);
    expect(connections.map(({ aborted }) => aborted)).toEqual([true, false]);
    controller.abort('enough');
    await ended;
    vi.useRealTimers();
  });
});

describe('waitUntilReady', () => {
  test('follows the events of the asset', async () => {
    let status = 'processing';
    let stream: ServerResponse | undefined;
    server.handle(({ path }, response) => {
      if (path.endsWith('/events')) {
        stream = response;
        return openEvents(response);
      }
      answer(response, asset(status));
      if (!stream) return;
      status = 'ready';
      writeEvent(stream, 'p1', { type: 'asset.progress', asset: asset('processing', { progress: 40 }) });
      writeEvent(stream, 'p2', { type: 'asset.ready', asset: asset('ready') });
    });
    const seen: unknown[] = [];
    const ready = await connect().media.waitUntilReady('a', {
      onUpdate: ({ progress }) => seen.push(progress),
    });
    expect(ready.stream_status).toBe('ready');
    expect(seen).toEqual([undefined, 40, undefined]);
  });
  test('waits by long polling where streams do not pass', async () => {
    const statuses = ['processing', '304', 'ready'];
    server.handle(({ path }, response) => {
      if (path.endsWith('/events')) return refuse(response, { status: 404, code: 'NOT_FOUND' });
      const status = statuses.shift() ?? '';
      if (status === '304') response.writeHead(304).end();
      else answer(response, asset(status), { etag: '"1"' });
    });
    expect(await connect().media.waitUntilReady('a')).toMatchObject({ stream_status: 'ready' });
    expect(server.requests.map(({ path }) => path.slice('/api/v1/media/'.length))).toEqual([
      'a/events',
      'a',
      'a?wait=30',
      'a?wait=30',
    ]);
    expect(server.requests[3]?.headers['if-none-match']).toBe('"1"');
  });
  test('asks for another token when one expires between two polls', async () => {
    let count = 0;
    server.handle(({ path, headers }, response) => {
      if (path.endsWith('/events')) return refuse(response, { status: 404, code: 'NOT_FOUND' });
      if (headers.authorization === 'Bearer 3') return refuse(response, EXPIRED);
      answer(response, asset(count === 2 ? 'processing' : 'ready'), { etag: '"1"' });
    });
    const waiting = connect({ token: () => String(++count) }).media.waitUntilReady('a');
    expect(await waiting).toMatchObject({ stream_status: 'ready' });
    expect(count).toBe(4);
  });
  test('rejects when the asset fails or is deleted', async () => {
    const failure = { code: 'not_media', message: 'Not media.', retryable: false };
    server.handle(({ path }, response) =>
      path.endsWith('/events') ? openEvents(response) : answer(response, asset('failed', { failure })),
    );
    const failing = connect().media.waitUntilReady('a');
    await expect(failing).rejects.toMatchObject({
      name: 'AssetFailedError',
      reason: 'not_media',
      message: 'Not media.',
    });
    server.handle(({ path }, response) => {
      if (!path.endsWith('/events')) return answer(response, asset('processing'));
      openEvents(response);
      writeEvent(response, 'p1', { type: 'asset.deleted', asset: null });
    });
    await expect(connect().media.waitUntilReady('a')).rejects.toMatchObject({ errorCode: 'ASSET_DELETED' });
  });
  test('rejects for an asset that is not there, and after its time', async () => {
    server.handle((_request, response) => refuse(response, { status: 404, code: 'NOT_FOUND' }));
    await expect(connect().media.waitUntilReady('a')).rejects.toMatchObject({ errorCode: 'NOT_FOUND' });
    server.handle(({ path }, response) =>
      path.endsWith('/events') ? openEvents(response) : answer(response, asset('processing')),
    );
    const late = connect().media.waitUntilReady('a', { deadlineMs: 100 });
    await expect(late).rejects.toMatchObject({ name: 'TimeoutError' });
  });
});
