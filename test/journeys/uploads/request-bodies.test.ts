// Bodies of JSON endpoints in unexpected forms, and responses to internal errors (contract A3, B2, B7).
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { unavailable } from '../../../service/src/platform/http/errors.ts';
import { expectFieldRefused, expectRefusal, expectSuccess } from '../../support/http/envelope.ts';
import { openUpload, putBytes, VIDEO } from '../../support/media.ts';
import { request, sendRaw } from '../../support/http/raw-socket.ts';
import { asService, asUser, call, startTestService, type TestService } from '../../support/service.ts';

let service: TestService;
let id: string;
beforeAll(async () => {
  service = await startTestService();
  id = (await openUpload(service, 'ann')).asset_id;
});
afterAll(() => service.stop());

const user = asUser('ann');
const bearer = `Authorization: ${user.authorization}`;
const json = { ...user, 'content-type': 'application/json' };
const post = (path: string, body: string | Uint8Array, headers: Record<string, string> = json) =>
  call(service, `POST ${path}`, { headers, body });

describe('an optional body', () => {
  // Without bytes, complete answers not_uploaded: the body was accepted.
  test.each([
    undefined,
    'application/json',
    'text/plain',
    'multipart/form-data',
    'application/x-www-form-urlencoded',
    'nonsense',
    'a/b; charset',
    ';',
  ])('counts as {} when it is empty, whatever its Content-Type (%s)', async (type) => {
    const headers = [bearer, ...(type === undefined ? [] : [`Content-Type: ${type}`])];
    const complete = (more: string[], body?: string) =>
      sendRaw(service.address, request(`POST /api/v1/media/${id}/complete`, [...headers, ...more], body));
    for (const response of [
      await complete(['Content-Length: 0']),
      await complete(['Transfer-Encoding: chunked'], '0\r\n\r\n'),
      await complete([]),
    ])
      expect(expectRefusal(response, 400).details).toEqual({ reason: 'not_uploaded' });
  });

  test('a service caller may name the owner in the query of DELETE, as proxies drop its body', async () => {
    const { asset_id: other } = await openUpload(service, 'ann');
    const answer = await call(service, `DELETE /media/${other}?owner_user_id=ann`, { headers: asService });
    expect(expectSuccess(answer)).toEqual({ id: other, deleted: true });
  });
});

describe('a body of another type', () => {
  test.each([
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/jsonp',
    'nonsense',
    'application/octet-stream',
  ])('%s is rejected', async (type) => {
    for (const path of ['/media/upload-url', `/media/${id}/complete`]) {
      expectFieldRefused(
        await post(path, JSON.stringify(VIDEO), { ...user, 'content-type': type }),
        'Content-Type',
      );
    }
  });

  test.each(['application/json; charset=utf-8', 'APPLICATION/JSON', 'application/merge-patch+json'])(
    '%s is accepted as JSON',
    async (type) => {
      expectSuccess(
        await post('/media/upload-url', JSON.stringify(VIDEO), { ...user, 'content-type': type }),
      );
    },
  );

  test.each([
    ['cut off', '{"filename":'],
    ['single quotes', "{'filename':'a'}"],
    ['a comment', '{} // done'],
    ['two documents', '{}{}'],
    ['a trailing comma', '{"a":1,}'],
    ['NaN', '{"a":NaN}'],
    ['only white space', '  '],
    ['a byte order mark', '\ufeff{}'],
    ['bytes that are no UTF-8', Buffer.from('{"filename":"\xff"}', 'latin1')],
    ['UTF-16', Buffer.from('{}', 'utf16le')],
  ])('%s is rejected as invalid JSON', async (_what, body) => {
    for (const path of ['/media/upload-url', `/media/${id}/complete`])
      expectFieldRefused(await post(path, body), 'body');
  });

  test.each(['null', '[]', '[{"filename":"a"}]', '"text"', '1', 'true'])(
    '%s is rejected: JSON, but not an object',
    async (body) => {
      for (const path of ['/media/upload-url', `/media/${id}/complete`])
        expectFieldRefused(await post(path, body), 'body');
    },
  );

  test('names of JavaScript object members have no effect', async () => {
    const odd =
      '"__proto__":{"owner_user_id":"eve"},"constructor":{"prototype":{"visibility":"public"}},' +
      '"metadata":{"__proto__":1}';
    const body = `{${odd},"filename":"a","content_type":"video","mime_type":"video/mp4"}`;
    const data = expectSuccess(await post('/media/upload-url?expand=asset', body));
    expect(data['asset']).toMatchObject({ owner_user_id: 'ann', visibility: 'private' });
    expect(JSON.stringify((data['asset'] as { metadata: object }).metadata)).toBe('{"__proto__":1}');
    expectFieldRefused(
      await post('/media/upload-url', body, { ...asService, 'content-type': 'application/json' }),
      'owner_user_id',
    );
  });

  test('deep nesting is rejected', async () => {
    const deep = `${'['.repeat(60_000)}${']'.repeat(60_000)}`;
    expectRefusal(
      await post(
        '/media/upload-url',
        `{"filename":"a","content_type":"video","mime_type":"video/mp4","metadata":{"a":${deep}}}`,
      ),
      400,
    );
    expectRefusal(await post('/media/upload-url', deep), 400);
  });
});

test('an Idempotency-Key works with JSON of any depth', async () => {
  const body = `${JSON.stringify(VIDEO).slice(0, -1)},"extra":${'['.repeat(8000)}${']'.repeat(8000)}}`;
  const headers = { ...json, 'idempotency-key': 'deep' };
  const first = await post('/media/upload-url', body, headers);
  const again = await post('/media/upload-url', body, headers);
  expect(expectSuccess(again)['asset_id']).toBe(expectSuccess(first)['asset_id']);
  expect(again.headers.get('idempotency-replayed')).toBe('true');
  expectRefusal(await post('/media/upload-url', body.replace('[[', '['), headers), 400);
  expectRefusal(await post('/media/upload-url', JSON.stringify(VIDEO), headers), 409);
});

describe('a body with thousands of errors', () => {
  const many = Array.from({ length: 8000 }, (_, index) => index);
  test.each([
    ['in a list', { ...VIDEO, tags: many }, 'tags.0'],
    [
      'behind names that nobody knows',
      { ...Object.fromEntries(many.map((name) => [name, 1])), ...VIDEO, filename: 1 },
      'filename',
    ],
  ])('%s is rejected for the first of them', async (_what, body, field) => {
    expectFieldRefused(await post('/media/upload-url', JSON.stringify(body)), field);
  });
});

describe('a body over 128 KiB', () => {
  const LIMIT = 128 * 1024;
  const padded = (length: number) =>
    JSON.stringify({
      ...VIDEO,
      padding: 'x'.repeat(length - JSON.stringify({ ...VIDEO, padding: '' }).length),
    });
  const expectTooLarge = (answer: Parameters<typeof expectRefusal>[0]) =>
    expect(expectRefusal(answer, 413).details).toEqual({
      field: 'body',
      reason: 'size_above_limit',
      limit: LIMIT,
    });

  test('is rejected by its Content-Length, and by its actual length', async () => {
    const head = ['Content-Type: application/json', bearer];
    expectTooLarge(
      await sendRaw(
        service.address,
        request('POST /api/v1/media/upload-url', [...head, `Content-Length: ${LIMIT + 1}`]),
      ),
    );
    const chunk = `${(LIMIT + 1).toString(16)}\r\n${padded(LIMIT + 1)}\r\n0\r\n\r\n`;
    expectTooLarge(
      await sendRaw(
        service.address,
        request('POST /api/v1/media/upload-url', [...head, 'Transfer-Encoding: chunked'], chunk),
      ),
    );
  });

  test('of exactly 128 KiB is accepted', async () => {
    expectSuccess(await post('/media/upload-url', padded(LIMIT)));
  });

  test('is not parsed without credentials', async () => {
    expectRefusal(
      await sendRaw(
        service.address,
        request('POST /api/v1/media/upload-url', [`Content-Length: ${2 ** 40}`]),
      ),
      401,
    );
  });
});

describe('internal errors', () => {
  const failing = async (error: Error, work: () => Promise<void>) => {
    const { all } = service.adapters.db;
    Object.assign(service.adapters.db, { all: () => Promise.reject(error) });
    try {
      await work();
    } finally {
      Object.assign(service.adapters.db, { all });
    }
  };

  test('a response to an unexpected error contains only the request id', async () => {
    await failing(
      new Error('relation "assets": select * from assets at /home/mediary/db.ts:7, password hunter2'),
      async () => {
        const answer = await call(service, `GET /media/${id}`, { headers: user });
        expect(expectRefusal(answer, 500)).toMatchObject({ error_code: 'INTERNAL_ERROR', details: null });
        expect(JSON.stringify(answer.body)).not.toMatch(/hunter2|relation/);
      },
    );
  });

  test('an unreachable database gets 503 with Retry-After, not 500', async () => {
    await failing(
      unavailable('The database is not available', new Error('connect ECONNREFUSED /tmp/socket')),
      async () => {
        const answer = await call(service, `GET /media/${id}`, { headers: user });
        expect(expectRefusal(answer, 503).error_code).toBe('UNAVAILABLE');
        expect(answer.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
      },
    );
  });

  test('a disk error gets 503, and the upload can be repeated', async () => {
    const started = await openUpload(service, 'ann');
    const { putSmall } = service.adapters.store;
    const failure = Object.assign(new Error('EIO: /var/objects/planted'), { code: 'EIO', syscall: 'write' });
    Object.assign(service.adapters.store, { putSmall: () => Promise.reject(failure) });
    const refused = await putBytes(started, Buffer.from('bytes'));
    Object.assign(service.adapters.store, { putSmall });
    expectRefusal(refused, 503);
    expect(refused.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
    expect(JSON.stringify(refused.body)).not.toContain('planted');
    expectSuccess(await putBytes(started, Buffer.from('bytes')));
  });
});
