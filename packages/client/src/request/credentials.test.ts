// Credentials of requests, and sources of tokens that fail.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  answer,
  type ApiServer,
  openEvents,
  refuse,
  startApiServer,
  writeEvent,
} from '../api-server.fixture.ts';
import { createMediary } from '../mediary.ts';
import type { MediaryOptions } from '../transport.ts';

let server: ApiServer;
beforeAll(async () => {
  server = await startApiServer();
});
afterAll(() => server.close());

const connect = (options: Partial<MediaryOptions> = {}) => createMediary({ baseUrl: server.url, ...options });
const failureOf = (pending: Promise<unknown>): Promise<unknown> =>
  pending.then(
    () => Promise.reject(new Error('the call succeeded')),
    (error: unknown) => error,
  );

describe('credentials', () => {
  test('are a bearer token, or the service key', async () => {
    server.handle((_request, response) => answer(response, {}));
    await connect({ token: 'abc' }).media.get('1');
    await connect({ serviceKey: 'key' }).media.get('1');
    const [user, service] = server.requests.map(({ headers }) => headers);
    expect(user).toMatchObject({ authorization: 'Bearer abc' });
    expect(user).not.toHaveProperty('x-service-key');
    expect(service).toMatchObject({ 'x-service-key': 'key' });
    expect(service).not.toHaveProperty('authorization');
  });
  test('of both kinds are refused', () => {
    expect(() => connect({ token: 'abc', serviceKey: 'key' })).toThrow(TypeError);
  });
  test('a token that has expired is asked for again', async () => {
    let count = 0;
    server.handle(({ headers }, response) =>
      headers.authorization === 'Bearer 1'
        ? refuse(response, { status: 401, code: 'UNAUTHORIZED', details: { reason: 'expired' } })
        : answer(response, { id: 'a' }),
    );
    const token = async () => String(++count);
    expect(await connect({ token }).media.get('1')).toEqual({ id: 'a' });
  });
  test('an error of the token source is passed on', async () => {
    const token = () => Promise.reject(new RangeError('signed out'));
    expect(await failureOf(connect({ token }).media.get('1'))).toBeInstanceOf(RangeError);
  });
  test('a token source without a network is asked again', async () => {
    server.handle((_request, response) => answer(response, { id: 'a' }));
    const failures = [
      new TypeError('fetch failed', { cause: new Error('getaddrinfo ENOTFOUND') }),
      new DOMException('The operation timed out.', 'TimeoutError'),
    ];
    const token = async () => {
      const failure = failures.shift();
      if (failure) throw failure;
      return 'abc';
    };
    expect(await connect({ token }).media.get('1')).toEqual({ id: 'a' });
    expect(server.requests).toHaveLength(1);
    const cause = new TypeError('Failed to fetch');
    const lost = connect({ token: () => Promise.reject(cause), maxRetries: 0 });
    const failed = { name: 'ConnectionError', errorCode: 'CONNECTION_FAILED', cause };
    expect(await failureOf(lost.media.get('1'))).toMatchObject(failed);
  });
  test('a stream of events opens where the token source had no network', async () => {
    server.handle((_request, response) => {
      openEvents(response);
      writeEvent(response, 'p1', { type: 'asset.updated' });
    });
    let isOffline = true;
    const token = async () => {
      if (isOffline) {
        isOffline = false;
        throw new TypeError('Failed to fetch');
      }
      return 'abc';
    };
    for await (const event of connect({ token }).events.stream()) {
      expect(event.position).toBe('p1');
      break;
    }
  });
});
