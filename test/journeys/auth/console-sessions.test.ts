// People sign in to the console once, by a key, an access token or a link; then a cookie stands for them.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ConsoleSession } from '@mediary/contract/schemas/admin/console';
import { sql } from '../../../service/src/platform/postgres/sql.ts';
import { expectFieldRefused, expectRefusal, expectSuccess } from '../../support/http/envelope.ts';
import { openUpload } from '../../support/media.ts';
import { type SharedData, startSharedData } from '../../support/postgres/shared-data.ts';
import {
  asOperator,
  asUser,
  call,
  eventually,
  SECRETS,
  startTestService,
  type TestService,
  tokenOf,
} from '../../support/service.ts';

const FROM_CONSOLE = { 'x-mediary-console': '1' };
const HOUR_MS = 3_600_000;

let data: SharedData;
let service: TestService;
/** The same database and store, with another operator key. */
let rotated: TestService;
beforeAll(async () => {
  data = await startSharedData();
  service = await startTestService(data.environment);
  const OPERATOR_KEY = 'another-operator-key-0123456789abcdef';
  rotated = await startTestService({ ...data.environment, MEDIARY_ROLE: 'api', OPERATOR_KEY });
});
afterAll(async () => {
  for (const one of [rotated, service]) await one?.stop();
  await data?.remove();
});

type Cookie = { readonly cookie: string };
const post = (credentials: object, headers: Record<string, string> = FROM_CONSOLE) =>
  call(service, 'POST /console/session', { headers, json: credentials });
const cookieOf = (answer: Awaited<ReturnType<typeof call>>): Cookie => ({
  cookie: (answer.headers.get('set-cookie') ?? '').split(';')[0] ?? '',
});
async function signIn(credentials: object): Promise<Cookie & ConsoleSession> {
  const answer = await post(credentials);
  return { ...expectSuccess<ConsoleSession>(answer), ...cookieOf(answer) };
}
const send = (line: string, { cookie }: Cookie, json?: object) =>
  call(service, line, { headers: { ...FROM_CONSOLE, cookie }, ...(json && { json }) });
const current = (session: Cookie) => send('GET /console/session', session);

const readRows = () =>
  service.adapters.db.all(
    sql('sessions of test', { text: 'text' })`select console_sessions::text as text from console_sessions`,
  );

const OPERATOR = { operator_key: SECRETS.OPERATOR_KEY };
const SERVICE = { service_key: SECRETS.SERVICE_API_KEY, owner_user_id: 'ann' };
const USER = () => ({ access_token: tokenOf('ann') });

describe('signing in', () => {
  test.each([
    ['an operator key', () => OPERATOR, { kind: 'operator', owner_user_id: null }],
    ['a service key', () => SERVICE, { kind: 'service', owner_user_id: 'ann' }],
    ['an access token', USER, { kind: 'user', owner_user_id: 'ann' }],
  ])('by %s opens a session of 12 hours', async (_, credentials, expected) => {
    const session = await signIn(credentials());
    expect(session).toMatchObject(expected);
    expect(Date.parse(session.expires_at) - Date.parse(session.created_at)).toBe(12 * HOUR_MS);
    expect(expectSuccess(await current(session))).toMatchObject(expected);
  });

  test('gives a cookie that scripts cannot read and other sites cannot send', async () => {
    const answer = await post(OPERATOR);
    expect(answer.headers.get('set-cookie')).toMatch(
      /^mediary_session=[\w-]{43}; Path=\/; Max-Age=43200; HttpOnly; SameSite=Strict$/,
    );
    expect(JSON.stringify(answer.body)).not.toContain(cookieOf(answer).cookie.split('=')[1]);
  });

  test('ends with the access token', async () => {
    const exp = Math.floor(Date.now() / 1000) + 600;
    const { expires_at: end } = await signIn({ access_token: tokenOf('ann', { exp }) });
    expect(Date.parse(end) / 1000 - exp).toBeLessThan(10);
  });

  test.each([
    ['a wrong operator key', { operator_key: 'x'.repeat(40) }],
    ['a wrong service key', { service_key: 'x'.repeat(40), owner_user_id: 'ann' }],
    ['a wrong token', { access_token: `${tokenOf('ann')}x` }],
    ['a wrong code', { code: 'x'.repeat(43) }],
  ])('by %s is refused, without a cookie', async (_, credentials) => {
    const answer = await post(credentials);
    expectRefusal(answer, 401);
    expect(answer.headers.get('set-cookie')).toBeNull();
  });

  test('needs exactly one credential, and the header of the console', async () => {
    expectFieldRefused(await post({}), 'operator_key');
    expectFieldRefused(await post({ ...OPERATOR, ...USER() }), 'access_token');
    expectFieldRefused(await post({ service_key: SECRETS.SERVICE_API_KEY }), 'owner_user_id');
    expectFieldRefused(await post(OPERATOR, {}), 'X-Mediary-Console');
  });

  test('replaces a token that somebody chose beforehand', async () => {
    const chosen = `mediary_session=${'A'.repeat(43)}`;
    const answer = await post(OPERATOR, { ...FROM_CONSOLE, cookie: chosen });
    expect(cookieOf(answer).cookie).not.toBe(chosen);
    expectRefusal(await current({ cookie: chosen }), 401);
  });
});

describe('a sign-in link', () => {
  const createCode = async () => {
    const { url } = expectSuccess<{ url: string }>(
      await call(service, 'POST /admin/console-links', { headers: asOperator }),
    );
    expect(url).toContain('/console#code=');
    return { code: url.split('#code=')[1] ?? '' };
  };

  test('signs in an operator once', async () => {
    const code = await createCode();
    expect(await signIn(code)).toMatchObject({ kind: 'operator' });
    expectRefusal(await post(code), 401);
  });

  test('signs in one of many who open it at the same time', async () => {
    const code = await createCode();
    const answers = await Promise.all(Array.from({ length: 8 }, () => post(code)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array(7).fill(401)]);
  });

  test('expires', async () => {
    const code = await createCode();
    await service.adapters.db.one(sql('expire codes of test')`update console_codes set expires_at = now()`);
    expectRefusal(await post(code), 401);
  });
});

describe('a session', () => {
  test('of an operator opens what operators and services may do', async () => {
    const session = await signIn(OPERATOR);
    expectSuccess(await send('GET /admin/providers', session));
    const { asset } = await openUpload(service, 'ann');
    expectSuccess(await send(`GET /media/${asset.id}`, session));
    expectSuccess(await send('GET /webhook-endpoints', session));
    expectSuccess(await send(`PUT /media/${asset.id}/legal-hold`, session, { owner_user_id: 'ann' }));
    const timeline = await send(`GET /media/${asset.id}/timeline?owner_user_id=ann`, session);
    const { items } = expectSuccess<{ items: { source: string }[] }>(timeline);
    expect(items.map(({ source }) => source)).toEqual(['caller', 'operator']);
  });

  test('of a user opens the assets of the user alone', async () => {
    const session = await signIn(USER());
    const { asset } = await openUpload(service, 'ann');
    const { asset: other } = await openUpload(service, 'ben');
    expectSuccess(await send(`GET /media/${asset.id}`, session));
    expectRefusal(await send(`GET /media/${other.id}`, session), 403);
    expect(expectRefusal(await send('GET /admin/providers', session), 403).details).toEqual({
      reason: 'operators_only',
    });
  });

  test('of a named key has its scopes, and ends with it', async () => {
    const created = expectSuccess<{ id: string; key: string }>(
      await call(service, 'POST /admin/service-keys', {
        headers: asOperator,
        json: { name: 'console', scopes: ['read'], owner_prefixes: ['shop_'] },
      }),
    );
    const byKey = (owner: string) => ({ service_key: created.key, owner_user_id: owner });
    expectRefusal(await post(byKey('ann')), 403);
    const session = await signIn(byKey('shop_1'));
    expectSuccess(await send('GET /media?owner_user_id=shop_1', session));
    expectRefusal(await send('GET /media?owner_user_id=ann', session), 403);
    expectRefusal(await send(`POST /upload-tokens`, session, { owner_user_id: 'shop_1' }), 403);
    await call(service, `DELETE /admin/service-keys/${created.id}`, { headers: asOperator });
    await eventually(
      () => current(session),
      ({ status }) => status === 401,
    );
  });

  test('is not used without the header of the console, or beside credentials', async () => {
    const { cookie } = await signIn(OPERATOR);
    expectRefusal(await call(service, 'GET /media', { headers: { cookie } }), 401);
    expectRefusal(await call(service, 'GET /admin/providers', { headers: { cookie } }), 401);
    const asAnn = { ...FROM_CONSOLE, ...asUser('ann'), cookie };
    const { asset } = await openUpload(service, 'ben');
    expectRefusal(await call(service, `GET /media/${asset.id}`, { headers: asAnn }), 403);
  });

  test('ends when its person signs out, and again without effect', async () => {
    const session = await signIn(OPERATOR);
    const out = await send('DELETE /console/session', session);
    expect(expectSuccess(out)).toEqual({ has_ended: true });
    expect(out.headers.get('set-cookie')).toMatch(/^mediary_session=; .*Max-Age=0/);
    expectRefusal(await current(session), 401);
    expect(expectSuccess(await send('DELETE /console/session', session))).toEqual({ has_ended: false });
  });

  test('ends by the clock of the database, and its row is deleted', async () => {
    const session = await signIn(USER());
    const { db, jobs } = service.adapters;
    await db.one(sql('age sessions of test')`update console_sessions set expires_at = now()`);
    expectRefusal(await current(session), 401);
    await db.transaction((tx) => jobs.send(tx, 'delete-expired-keys', {}));
    await eventually(readRows, (rows) => rows.length === 0);
  });

  test('makes room for newer ones of the same person', async () => {
    const first = await signIn({ access_token: tokenOf('cleo') });
    for (let count = 0; count < 100; count += 1) await signIn({ access_token: tokenOf('cleo') });
    expectRefusal(await current(first), 401);
  });
});

test('the database has no token and no key', async () => {
  const session = await signIn(OPERATOR);
  const rows = await readRows();
  const stored = JSON.stringify(rows);
  expect(rows.length).toBeGreaterThan(0);
  expect(stored).not.toContain(session.cookie.split('=')[1]);
  expect(stored).not.toContain(SECRETS.OPERATOR_KEY);
});

test('a session is known to every process, and ends where its operator key is replaced', async () => {
  const ask = ({ cookie }: Cookie) =>
    call(rotated, 'GET /console/session', { headers: { ...FROM_CONSOLE, cookie } });
  expectSuccess(await ask(await signIn(USER())));
  const session = await signIn(OPERATOR);
  expectRefusal(await ask(session), 401);
  expectSuccess(await current(session));
});

test('CONSOLE=off has no sessions', async () => {
  const other = await startTestService({ MEDIARY_ROLE: 'api', CONSOLE: 'off' });
  const answer = await call(other, 'GET /console/session', { headers: FROM_CONSOLE });
  await other.stop();
  expectRefusal(answer, 404);
});
