// Every response has the envelope, also for malformed requests (contract A2, A3, B2).
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { expectEnvelope, expectRefusal, expectSuccess } from '../../support/http/envelope.ts';
import { request, sendRaw } from '../../support/http/raw-socket.ts';
import {
  asService,
  asUser,
  call,
  IS_BEHIND_NGINX,
  startTestService,
  type TestService,
} from '../../support/service.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service.stop());

const raw = (bytes: string) => sendRaw(service.address, Buffer.from(bytes, 'latin1'));
const user = asUser('ann');
/** nginx answers some requests itself, in the same envelope. */
const statusOf = (own: number, ofNginx = own): number => (IS_BEHIND_NGINX ? ofNginx : own);
const bearer = `Authorization: ${user.authorization}`;

describe('unknown paths', () => {
  test.each<[string, string, number?]>([
    ['an unknown route', 'GET /nope'],
    ['an unknown route below the API', 'GET /api/v1/nope'],
    ['a method that the route does not have', 'PUT /api/v1/media'],
    ['GET of what only takes POST', 'GET /api/v1/webhooks/stream/onprem'],
    ['GET of complete', 'GET /api/v1/media/0199/complete'],
    ['POST of what only gives', 'POST /healthz'],
    ['a rare method', 'PROPFIND /api/v1/media'],
    ['a rare method with a body of its own', 'QUERY /api/v1/media'],
    ['TRACE', 'TRACE /api/v1/media', 400],
    ['a doubled slash', 'GET /api/v1//media'],
    ['a doubled slash in place of the id', 'POST /api/v1/media//complete'],
    ['a trailing slash', 'GET /api/v1/media/'],
    ['a trailing slash behind an id', 'GET /api/v1/media/0199/'],
    ['an upload without its id', 'PUT /api/v1/uploads/'],
    ['other case', 'GET /API/v1/media'],
    ['a trailing dot', 'GET /api/v1/media.'],
    ['another host as target', 'GET http://elsewhere.test/nope'],
    ['a path that begins like a host', 'GET //elsewhere.test/api/v1/media'],
    ['a star as target', 'GET *', 400],
    ['OPTIONS that asks for nothing', 'OPTIONS /api/v1/media'],
  ])('%s is not found', async (_what, line, ofNginx) => {
    const status = statusOf(404, ofNginx);
    const { error_code } = expectRefusal(await raw(request(line)), status);
    expect(error_code).toBe(status === 404 ? 'NOT_FOUND' : 'BAD_REQUEST');
  });

  test('ignore the body of the request', async () => {
    expectRefusal(
      await raw(request('POST /nope', ['Content-Type: text/plain', 'Content-Length: 5'], 'hello')),
      404,
    );
    expectRefusal(
      await raw(request('POST /nope', ['Content-Type: application/json', `Content-Length: ${2 ** 40}`])),
      statusOf(404, 413),
    );
    expectRefusal(await raw(request('OPTIONS /api/v1/media', ['Origin: https://app.test'])), 404);
  });

  test('CONNECT gets a response', async () => {
    const bytes = 'CONNECT elsewhere.test:443 HTTP/1.1\r\nHost: elsewhere.test:443\r\n\r\n';
    expectRefusal(await raw(bytes), statusOf(404, 400));
  });

  test.each(['%zz', '%ff', '%', '%e0%a4%a'])(
    'a path that cannot be decoded (%s) is malformed',
    async (id) => {
      expectRefusal(await raw(request(`GET /api/v1/media/${id}`, [bearer])), 400);
    },
  );

  test('a target in absolute form reaches the same route and guard', async () => {
    expectRefusal(await raw(request('GET http://elsewhere.test/api/v1/media')), 401);
    const answer = await raw(request('GET http://elsewhere.test/api/v1/media', [bearer]));
    expect(expectSuccess(answer)).toEqual({ items: [], next_cursor: null });
  });
});

describe('malformed HTTP', () => {
  test.each([
    ['not HTTP at all', '{"hello":"world"}\r\n\r\n'],
    ['a method nobody knows', 'FETCH /healthz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n'],
    ['HTTP/2 in plain text', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
    ['a NUL in a header', 'GET /healthz HTTP/1.1\r\nHost: a\r\nX-Odd: a\0b\r\n\r\n'],
    ['a folded header', 'GET /healthz HTTP/1.1\r\nHost: a\r\n b\r\n\r\n'],
    ['two lengths', 'POST /healthz HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab'],
    [
      'length and chunks',
      'POST /healthz HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
    ],
    ['a length that is no number', 'POST /healthz HTTP/1.1\r\nHost: a\r\nContent-Length: ten\r\n\r\n'],
    ['a path of raw bytes', 'GET /caf\xe9 HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n'],
    ['a target without a slash', 'GET healthz HTTP/1.1\r\nHost: a\r\n\r\n'],
    ['no host', 'GET /healthz HTTP/1.1\r\nConnection: close\r\n\r\n'],
    ['two hosts', 'GET /healthz HTTP/1.1\r\nHost: a\r\nHost: b\r\nConnection: close\r\n\r\n'],
    ['a head of 40 KB', `GET /healthz HTTP/1.1\r\nHost: a\r\nX-Long: ${'x'.repeat(40_000)}\r\n\r\n`],
    ['a target of 40 KB', `GET /${'x'.repeat(40_000)} HTTP/1.1\r\nHost: a\r\n\r\n`],
  ])('%s is malformed', async (_what, bytes) => {
    expectRefusal(await raw(bytes), 400);
  });

  test('bare line feeds are malformed; nginx passes proper lines on', async () => {
    const { status } = await raw('GET /healthz HTTP/1.1\nHost: a\nConnection: close\n\n');
    expect(status).toBe(statusOf(400, 200));
  });

  test('HTTP/1.0 needs no host', async () => {
    expect(expectSuccess(await raw('GET /healthz HTTP/1.0\r\n\r\n'))).toEqual({ status: 'ok' });
  });

  test('an unknown Expect header is ignored', async () => {
    expectSuccess(await raw(request('GET /healthz', ['Expect: the-unexpected'])));
  });

  test('the next request is answered normally', async () => {
    expectSuccess(await call(service, `GET ${service.address}/healthz`));
  });
});

describe('the request id', () => {
  test.each(['a', 'A-b_c.0', 'x'.repeat(128)])('%s is adopted', async (id) => {
    const answer = await call(service, 'GET /media', { headers: { ...user, 'x-request-id': id } });
    expect(expectEnvelope(answer).request_id).toBe(id);
    const refused = await call(service, 'GET /nope', { headers: { 'x-request-id': id } });
    expect(expectEnvelope(refused).request_id).toBe(id);
  });

  test.each([
    ['one that is too long', 'x'.repeat(129)],
    ['spaces', 'a b'],
    ['markup', '<b>'],
    ['an empty one', ''],
    ['umlauts', 'ä'],
    ['a slash', 'a/b'],
  ])('%s is replaced', async (_what, id) => {
    const envelope = expectEnvelope(await raw(request('GET /healthz', [`X-Request-Id: ${id}`])));
    expect(envelope.request_id).toMatch(/^[0-9a-f-]{36}$/);
  });

  test('two ids are replaced by one, and a line break cannot inject a header', async () => {
    const twice = expectEnvelope(await raw(request('GET /healthz', ['X-Request-Id: a', 'X-Request-Id: b'])));
    expect(twice.request_id).toMatch(/^[0-9a-f-]{36}$/);
    const split = await raw(request('GET /healthz', ['X-Request-Id: a\r\nSet-Cookie: b=c']));
    expect(split.headers.has('set-cookie')).toBe(false);
  });
});

describe('responses without a body', () => {
  test.each([
    ['/healthz', 200],
    ['/nope', 404],
    ['/api/v1/media', 401],
    ['/api/v1/media/%zz', 400],
  ])('HEAD %s', async (path, status) => {
    const answer = await raw(request(`HEAD ${path}`));
    expect(answer).toMatchObject({ status, body: '' });
    expect(Number(answer.headers.get('content-length'))).toBeGreaterThan(100);
    expect(answer.headers.get('x-request-id')).toMatch(/\S/);
  });

  test('a preflight from an unlisted origin allows nothing', async () => {
    const answer = await raw(
      request('OPTIONS /api/v1/media', ['Origin: https://app.test', 'Access-Control-Request-Method: GET']),
    );
    expect(answer).toMatchObject({ status: 204, body: '' });
    expect(answer.headers.has('access-control-allow-origin')).toBe(false);
  });

  test('a preflight of playback allows every origin', async () => {
    const answer = await raw(
      request('OPTIONS /api/v1/playback/x/hls.m3u8', [
        'Origin: https://app.test',
        'Access-Control-Request-Method: GET',
      ]),
    );
    expect(answer.status).toBe(204);
    expect(answer.headers.get('access-control-allow-origin')).toBe('*');
    expect(answer.headers.has('access-control-allow-credentials')).toBe(false);
  });
});

test('a service call without an owner names the missing field in the envelope', async () => {
  expect(expectRefusal(await call(service, 'GET /media', { headers: asService }), 400).details).toMatchObject(
    {
      field: 'owner_user_id',
    },
  );
});
