// Access to every operation below /media, for each caller and each state of an asset (contract A4, B2).
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { sql } from '../../../service/src/platform/postgres/sql.ts';
import { expectRefusal, expectSuccess } from '../../support/http/envelope.ts';
import { openUpload, putBytes, VIDEO } from '../../support/media.ts';
import {
  type Answer,
  asService,
  asUser,
  call,
  startTestService,
  type TestService,
} from '../../support/service.ts';

/**
 * `create` and `list` are about an owner; `read` and `write` about one asset, which has its bytes; `trash`
 * finds one that can be restored too.
 */
type Expectation = {
  readonly kind: 'create' | 'list' | 'read' | 'write' | 'trash';
  readonly body?: object;
  readonly allowed?: number;
  /** Users may not, whatever they own. */
  readonly isForServices?: true;
  readonly query?: string;
  /** A body that is no JSON; a service names the owner in the query. */
  readonly captions?: string;
};

const EXPECTED: Readonly<Record<string, Expectation>> = {
  'POST /api/v1/media/upload-url': { kind: 'create', body: VIDEO },
  'POST /api/v1/media/import': { kind: 'create', body: { ...VIDEO, url: 'https://files.invalid/a.mp4' } },
  // Assets that the caller may not change are refused one by one: batch.test.ts.
  'POST /api/v1/media/batch': { kind: 'create', body: { ids: ['none'], action: 'trash' } },
  'GET /api/v1/media': { kind: 'list' },
  'GET /api/v1/media/{id}': { kind: 'read' },
  'GET /api/v1/media/{id}/playback': { kind: 'read' },
  'GET /api/v1/media/{id}/download-url': { kind: 'read' },
  'GET /api/v1/media/{id}/timeline': { kind: 'read' },
  'GET /api/v1/media/{id}/captions': { kind: 'read' },
  // A picture has no captions.
  'GET /api/v1/media/{id}/captions/{lang}': { kind: 'read', allowed: 404 },
  'PUT /api/v1/media/{id}/captions/{lang}': {
    kind: 'write',
    allowed: 409,
    captions: 'WEBVTT\n\n00:01.000 --> 00:02.000\na',
  },
  'DELETE /api/v1/media/{id}/captions/{lang}': { kind: 'write', allowed: 404 },
  // A stream would not end, so a caller that may follow the asset sends an invalid position.
  'GET /api/v1/media/{id}/events': { kind: 'read', allowed: 400, query: '?last_event_id=none' },
  'POST /api/v1/media/{id}/complete': { kind: 'write' },
  // An image cannot be cut.
  'POST /api/v1/media/{id}/clip': { kind: 'write', allowed: 409, body: { start_ms: 0, end_ms: 1000 } },
  // Only what is ready or failed can be replaced, and only what was replaced can come back.
  'POST /api/v1/media/{id}/replace': { kind: 'write', allowed: 409, body: VIDEO },
  'POST /api/v1/media/{id}/rollback': { kind: 'write', allowed: 409 },
  'GET /api/v1/media/{id}/versions': { kind: 'read' },
  'PATCH /api/v1/media/{id}': { kind: 'write', body: { title: 'Edited' } },
  'POST /api/v1/media/{id}/revoke-playback': { kind: 'write' },
  // There is nothing to try again at an asset that did not fail.
  'POST /api/v1/media/{id}/retry': { kind: 'write', allowed: 409 },
  'DELETE /api/v1/media/{id}': { kind: 'trash' },
  'POST /api/v1/media/{id}/restore': { kind: 'trash' },
  'PUT /api/v1/media/{id}/legal-hold': { kind: 'trash', isForServices: true },
  'DELETE /api/v1/media/{id}/legal-hold': { kind: 'trash', isForServices: true },
};

const CALLERS = {
  owner: { headers: asUser('ann') },
  'another user': { headers: asUser('bob') },
  'a service that names the owner': { headers: asService, owner: 'ann' },
  'a service that names somebody else': { headers: asService, owner: 'zoe' },
  'a service that names nobody': { headers: asService },
  nobody: { headers: {} },
  'a caller with both schemes': { headers: { ...asUser('ann'), ...asService }, owner: 'ann' },
} as const satisfies Record<string, { headers: Record<string, string>; owner?: string }>;
type CallerName = keyof typeof CALLERS;

const STATES = ['there', 'in the trash', 'deleted', 'unknown', 'no UUID'] as const;
type TriedState = (typeof STATES)[number];

/** The rule (B2): credentials, then what a service forgot to say, then existence, then ownership. */
function expectedStatus(expectation: Expectation, caller: CallerName, state: TriedState): number {
  const { kind, allowed = 200, isForServices } = expectation;
  if (caller === 'nobody' || caller === 'a caller with both schemes') return 401;
  if (caller === 'a service that names nobody' && kind !== 'read') return 400;
  if (kind === 'create' || kind === 'list') return allowed;
  if (state !== 'there' && !(state === 'in the trash' && kind === 'trash')) return 404;
  return caller === 'another user' || (isForServices && caller === 'owner') ? 403 : allowed;
}

let service: TestService;
let operations: string[];
let lasting: Record<TriedState, string>;
beforeAll(async () => {
  service = await startTestService();
  lasting = {
    there: await newAsset(),
    'in the trash': await newAsset('?trash=true'),
    deleted: await newAsset('?purge=true'),
    unknown: '0199aaaa-0000-7000-8000-000000000000',
    'no UUID': 'no-uuid',
  };
  const answer = await fetch(`${service.url}/openapi.json`);
  const { paths } = (await answer.json()) as { paths: Record<string, Record<string, unknown>> };
  operations = Object.entries(paths)
    .filter(([path]) => path.startsWith('/api/v1/media'))
    .flatMap(([path, methods]) => Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`));
});
afterAll(() => service.stop());

/** One with bytes; removed again where it is said how. */
async function newAsset(removal?: string): Promise<string> {
  const started = await openUpload(service, 'ann', {
    filename: 'a.png',
    content_type: 'image',
    mime_type: 'image/png',
  });
  expectSuccess(await putBytes(started, Buffer.from('\x89PNG\r\n\x1a\n', 'latin1')));
  if (removal !== undefined)
    expectSuccess(
      await call(service, `DELETE /media/${started.asset_id}${removal}`, { headers: asUser('ann') }),
    );
  return started.asset_id;
}

async function use(operation: string, caller: CallerName, id: string): Promise<Answer> {
  const { headers, owner } = { owner: undefined, ...CALLERS[caller] };
  const { kind, body, query: fixed = '', captions } = EXPECTED[operation] as Expectation;
  const [method, path = ''] = operation.replace('{id}', id).replace('{lang}', 'en').split(' ');
  const named = owner === undefined ? {} : { owner_user_id: owner };
  const query = (kind === 'list' || captions) && owner !== undefined ? `?owner_user_id=${owner}` : fixed;
  return call(service, `${method} ${service.address}${path}${query}`, {
    ...(captions
      ? { headers: { ...headers, 'content-type': 'text/vtt' }, body: captions }
      : { headers, ...(method !== 'GET' && { json: { ...body, ...named } }) }),
  });
}

test('covers each operation below /media', () => {
  const strange = operations.filter((operation) => !EXPECTED[operation]);
  expect(strange, 'say in EXPECTED what this operation expects of its callers').toEqual([]);
  expect(
    Object.keys(EXPECTED).filter((operation) => !operations.includes(operation)),
    'is not in the API any more',
  ).toEqual([]);
});

describe.each(Object.keys(EXPECTED))('%s', (operation) => {
  test.each(Object.keys(CALLERS) as CallerName[])('for %s', async (caller) => {
    const expectation = EXPECTED[operation] as Expectation;
    for (const state of operation.includes('{id}') ? STATES : (['there'] as const)) {
      const status = expectedStatus(expectation, caller, state);
      const isChanged = status === 200 && expectation.kind !== 'read';
      const id = isChanged
        ? await newAsset(state === 'in the trash' ? '?trash=true' : undefined)
        : lasting[state];
      const answer = await use(operation, caller, id);
      expect.soft(answer.status, `an asset that is ${state}: ${JSON.stringify(answer.body)}`).toBe(status);
      if (status === 200) expectSuccess(answer);
      else expectRefusal(answer, status);
    }
  });
});

describe('ids', () => {
  const user = asUser('ann');

  test('either case names the same asset', async () => {
    const id = await newAsset();
    expect(
      expectSuccess(await call(service, `GET /media/${id.toUpperCase()}`, { headers: user })),
    ).toMatchObject({ id });
    expectRefusal(await call(service, `GET /media/${id.toUpperCase()}`, { headers: asUser('bob') }), 403);
  });

  test.each([
    ['a traversal', '..%2f..%2fetc%2fpasswd'],
    ['an encoded slash', 'a%2fb'],
    ['a NUL', '%00'],
    ['a line break', 'a%0d%0aSet-Cookie:%20b'],
    ['SQL', "1'%20or%20'1'='1"],
    ['braces around a UUID', `%7b${randomUUID()}%7d`],
    ['a UUID without dashes', randomUUID().replaceAll('-', '')],
    ['a UUID and a space', `${randomUUID()}%20`],
    ['16 KB', 'a'.repeat(16_000)],
    ['full-width digits', '%EF%BC%90'],
  ])('%s is not found', async (_what, id) => {
    for (const door of [`GET /media/${id}`, `POST /media/${id}/complete`, `DELETE /media/${id}`])
      expectRefusal(await call(service, door, { headers: user }), 404);
  });
});

describe('a service caller that names another owner', () => {
  const eventsOf = (id: string) =>
    service.adapters.db.all(
      sql('test: events of an asset', {
        type: 'text',
        data: 'jsonb',
      })`select type, data from events where asset_id = ${id} order by id`,
    );

  test('is accepted, and the timeline has the named owner', async () => {
    const id = await newAsset();
    const json = { owner_user_id: 'zoe' };
    expectSuccess(await call(service, `POST /media/${id}/complete`, { headers: asService, json }));
    expectSuccess(await call(service, `DELETE /media/${id}`, { headers: asService, json }));
    const noted = (await eventsOf(id)).filter(
      ({ data }) => (data as { named_owner?: string }).named_owner === 'zoe',
    );
    expect(noted.map(({ type }) => type)).toEqual(['asset.processing', 'asset.deleted']);
    expect(noted[0]?.data).toMatchObject({ caller: 'service' });
  });

  test('does not change the owner of the asset', async () => {
    const id = await newAsset();
    expect(
      expectSuccess(await call(service, `GET /media/${id}?owner_user_id=zoe`, { headers: asService })),
    ).toMatchObject({ owner_user_id: 'ann' });
    expectRefusal(await call(service, `GET /media/${id}?owner_user_id=zoe`, { headers: asUser('zoe') }), 403);
    expectRefusal(
      await call(service, `DELETE /media/${id}`, { headers: asUser('zoe'), json: { owner_user_id: 'ann' } }),
      403,
    );
  });

  test.each([null, '', ' ', {}, [], true, 1.5, 'x'.repeat(256), 'a\u0000b'])(
    'is rejected with the owner %j',
    async (owner) => {
      const answer = await call(service, `DELETE /media/${lasting.unknown}`, {
        headers: asService,
        json: { owner_user_id: owner },
      });
      expect(expectRefusal(answer, 400).details).toMatchObject({ field: 'owner_user_id' });
    },
  );
});
