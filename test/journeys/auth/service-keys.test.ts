// Named service keys: operators create, limit, rotate and revoke them while the service runs (contract A4).
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { listKeyRows } from '../../../service/src/auth/keys/service-keys.sql.ts';
import { expectFieldRefused, expectRefusal, expectSuccess } from '../../support/http/envelope.ts';
import { openUpload, VIDEO } from '../../support/media.ts';
import {
  asOperator,
  asService,
  asUser,
  call,
  eventually,
  SECRETS,
  startTestService,
  type TestService,
} from '../../support/service.ts';

const KEYS = '/admin/service-keys';
const UNKNOWN = '00000000-0000-7000-8000-000000000000';

let service: TestService;
beforeAll(async () => {
  service = await startTestService({ MEDIARY_ROLE: 'api', RATE_LIMIT_PER_OWNER: '1000/24h' });
});
afterAll(() => service?.stop());

const operate = (line: string, json?: object) =>
  call(service, line, { headers: asOperator, ...(json && { json }) });
let count = 0;
async function createKey(members: object = {}): Promise<{ id: string; key: string }> {
  count += 1;
  const created = await operate(`POST ${KEYS}`, { name: `key ${count}`, scopes: ['read'], ...members });
  return expectSuccess(created) as { id: string; key: string };
}
const withKey = (key: string) => ({ 'x-service-key': key });
const list = (key: string, owner = 'shop_1') =>
  call(service, `GET /media?owner_user_id=${owner}`, { headers: withKey(key) });
const upload = (key: string, owner = 'shop_1', headers: object = {}) =>
  call(service, 'POST /media/upload-url?expand=asset', {
    headers: { ...withKey(key), ...headers },
    json: { ...VIDEO, owner_user_id: owner },
  });
const detailsOf = async (answer: ReturnType<typeof call>, status: number) =>
  expectRefusal(await answer, status).details;

describe('a named key', () => {
  test('is shown once, and only its hint afterwards', async () => {
    const created = await createKey({ name: 'billing' });
    expect(created.key).toMatch(/^msk_[\w-]{43}$/);
    const { key, ...rest } = created;
    expect(rest).toMatchObject({ key_hint: key.slice(-4), scopes: ['read'], last_used_at: null });
    expect(expectSuccess(await operate(`GET ${KEYS}/${created.id}`))).toEqual(rest);
    const { items } = expectSuccess(await operate(`GET ${KEYS}`));
    expect(items).toContainEqual(rest);
    const stored = JSON.stringify(
      await listKeyRows(service.adapters.db, { limit: 1000, includeRevoked: true }),
    );
    expect(stored).toContain(created.id);
    expect(stored).not.toContain(key.slice(4));
  });

  test('opens what its scopes name, and SERVICE_API_KEY opens everything', async () => {
    const [reader, writer] = [await createKey(), await createKey({ scopes: ['write'] })];
    expectSuccess(await list(reader.key));
    expect(await detailsOf(upload(reader.key), 403)).toEqual({ reason: 'missing_scope', scope: 'write' });
    expectSuccess(await upload(writer.key));
    expect(await detailsOf(list(writer.key), 403)).toEqual({ reason: 'missing_scope', scope: 'read' });
    expectSuccess(await upload(SECRETS.SERVICE_API_KEY));
  });

  test('does not use up the rate limit of owners that it may not act for', async () => {
    const { key } = await createKey({ scopes: ['read', 'write'], owner_prefixes: ['shop_'] });
    const own = (await openUpload(service, 'shop_1')).asset_id;
    const headers = withKey(key);
    expectRefusal(await list(key, 'bank_2'), 403);
    const json = { owner_user_id: 'bank_2', title: 'x' };
    expectRefusal(await call(service, `PATCH /media/${own}`, { headers, json }), 403);
    expectSuccess(await call(service, `GET /media/${own}?owner_user_id=bank_2`, { headers }));
    const answer = await call(service, 'GET /media', { headers: asUser('bank_2') });
    expect(answer.headers.get('ratelimit')).toMatch(/^"owner";r=999;/);
  });

  test('is limited to owners by their prefixes, whichever owner it names', async () => {
    const { key } = await createKey({ scopes: ['read', 'write'], owner_prefixes: ['shop_', 'x'] });
    const other = (await openUpload(service, 'bank_1')).asset_id;
    const headers = withKey(key);
    const refused = { reason: 'owner_not_allowed', field: 'owner_user_id' };
    expectSuccess(await upload(key));
    expectSuccess(await list(key));
    expect(await detailsOf(upload(key, 'bank_1'), 403)).toEqual(refused);
    expect(await detailsOf(list(key, 'bank_1'), 403)).toEqual(refused);
    expect(await detailsOf(call(service, `GET /media/${other}`, { headers }), 403)).toEqual(refused);
    const json = { owner_user_id: 'shop_1', title: 'taken' };
    expect(await detailsOf(call(service, `PATCH /media/${other}`, { headers, json }), 403)).toEqual(refused);
    expect(await detailsOf(call(service, 'GET /events', { headers }), 403)).toEqual(refused);
    expectRefusal(await call(service, `GET /media/${UNKNOWN}`, { headers }), 404);
  });

  test('has Idempotency-Keys of its own', async () => {
    const repeat = { 'idempotency-key': 'order-1' };
    const first = await createKey({ scopes: ['write'] });
    const second = await createKey({ scopes: ['write'] });
    const made = async (key: string) => expectSuccess(await upload(key, 'shop_1', repeat))['asset_id'];
    const id = await made(first.key);
    expect(await made(first.key)).toBe(id);
    expect(await made(second.key)).not.toBe(id);
  });

  test('shows when it was last used', async () => {
    const { id, key } = await createKey();
    expectSuccess(await list(key));
    await eventually(
      async () => expectSuccess(await operate(`GET ${KEYS}/${id}`))['last_used_at'],
      (usedAt) => usedAt !== null,
    );
  });

  test('works until it is revoked, or expires', async () => {
    const { id, key } = await createKey({ expires_at: new Date(Date.now() + 1500).toISOString() });
    const lasting = await createKey();
    expectSuccess(await list(key));
    expectSuccess(await list(lasting.key));
    expect(expectSuccess(await operate(`DELETE ${KEYS}/${lasting.id}`))['revoked_at']).not.toBeNull();
    expect(await detailsOf(list(lasting.key), 401)).toEqual({
      reason: 'invalid_credential',
      field: 'X-Service-Key',
    });
    expectSuccess(await operate(`DELETE ${KEYS}/${lasting.id}`));
    await eventually(
      () => list(key),
      ({ status }) => status === 401,
    );
    expect(await detailsOf(list(key), 401)).toEqual({ reason: 'expired', field: 'X-Service-Key' });
    expectSuccess(await operate(`PATCH ${KEYS}/${id}`, { expires_at: null }));
    expectSuccess(await list(key));
    for (const line of [`PATCH ${KEYS}/${lasting.id}`, `POST ${KEYS}/${lasting.id}/rotate`])
      expect(await detailsOf(operate(line, {}), 409)).toEqual({ reason: 'key_revoked' });
    const { items } = expectSuccess(await operate(`GET ${KEYS}?include_revoked=true`));
    expect(items).toContainEqual(expect.objectContaining({ id: lasting.id }));
  });

  test('is rotated, and the old one stays valid for the overlap', async () => {
    const { id, key } = await createKey();
    const rotate = async (json?: object) =>
      String(expectSuccess(await operate(`POST ${KEYS}/${id}/rotate`, json))['key']);
    const second = await rotate();
    expectSuccess(await list(key));
    expectSuccess(await list(second));
    const third = await rotate({ overlap_s: 0 });
    expectSuccess(await list(third));
    expect(await detailsOf(list(second), 401)).toMatchObject({ reason: 'expired' });
    expect(await detailsOf(list(key), 401)).toMatchObject({ reason: 'invalid_credential' });
  });

  test('gets other scopes and owners at once', async () => {
    const { id, key } = await createKey();
    expectRefusal(await upload(key), 403);
    expectSuccess(await operate(`PATCH ${KEYS}/${id}`, { scopes: ['write'], owner_prefixes: ['shop_'] }));
    expectSuccess(await upload(key));
    expectRefusal(await upload(key, 'bank_1'), 403);
  });
});

describe('operators', () => {
  test('read the keys page by page, revoked ones too', async () => {
    const [revoked, usable] = [await createKey(), await createKey()];
    expectSuccess(await operate(`DELETE ${KEYS}/${revoked.id}`));
    const page = async (query: string) =>
      expectSuccess(await operate(`GET ${KEYS}?${query}`)) as {
        items: { id: string }[];
        next_cursor: string | null;
      };
    for (const filter of ['include_revoked=true', 'include_revoked=false']) {
      const { items: all, next_cursor: end } = await page(`limit=1000&${filter}`);
      expect(end).toBeNull();
      expect(all[0]?.id).toBe(usable.id);
      expect(all.some(({ id }) => id === revoked.id)).toBe(filter === 'include_revoked=true');
      const found: object[] = [];
      let cursor: string | null = '';
      while (cursor !== null) {
        const next = await page(`limit=2&${filter}${cursor && `&cursor=${cursor}`}`);
        found.push(...next.items);
        cursor = next.next_cursor;
      }
      expect(found).toEqual(all);
    }
    for (const cursor of ['x', ''])
      expectFieldRefused(await operate(`GET ${KEYS}?cursor=${cursor}`), 'cursor');
  });

  test('change different members of a key at once, and none of the changes is lost', async () => {
    const { id } = await createKey({ scopes: ['read', 'write'] });
    const path = `${KEYS}/${id}`;
    for (let round = 0; round < 10; round++) {
      const changes = {
        name: `changed ${round}`,
        scopes: [round % 2 ? 'write' : 'read'],
        owner_prefixes: [`p${round}`],
      };
      const change = ([member, value]: [string, unknown]) => operate(`PATCH ${path}`, { [member]: value });
      for (const answer of await Promise.all(Object.entries(changes).map(change))) expectSuccess(answer);
      expect(expectSuccess(await operate(`GET ${path}`))).toMatchObject(changes);
    }
  });

  test('alone manage keys', async () => {
    const { id } = await createKey();
    for (const headers of [{}, asService])
      for (const line of [
        `GET ${KEYS}`,
        `GET ${KEYS}/${id}`,
        `POST ${KEYS}/${id}/rotate`,
        `DELETE ${KEYS}/${id}`,
      ])
        expectRefusal(await call(service, line, { headers }), 401);
  });

  test.each([
    ['name', { name: '' }],
    ['scopes', { scopes: [] }],
    ['scopes', { scopes: ['admin'] }],
    ['expires_at', { expires_at: '2001-01-01T00:00:00Z' }],
    ['expires_at', { expires_at: 'tomorrow' }],
    ['owner_prefixes', { owner_prefixes: [''] }],
    ['owner_prefixes', { scopes: ['webhooks'], owner_prefixes: ['shop_'] }],
    ['name', { name: 'a\0' }],
    ['owner_prefixes', { owner_prefixes: ['shop_', '\ud800'] }],
  ])('are told which %s is invalid: %j', async (field, members) => {
    const { id } = await createKey();
    for (const answer of [
      await operate(`POST ${KEYS}`, { name: 'wrong', scopes: ['read'], ...members }),
      await operate(`PATCH ${KEYS}/${id}`, members),
    ])
      expect(String(expectRefusal(answer, 400).details?.['field'])).toMatch(RegExp(`^${field}`));
  });

  test('cannot give a name twice, nor change what is unknown', async () => {
    await createKey({ name: 'search' });
    const again = await operate(`POST ${KEYS}`, { name: 'search', scopes: ['read'] });
    expect(expectRefusal(again, 409).details).toEqual({ field: 'name', reason: 'name_taken' });
    const { id } = await createKey();
    expectFieldRefused(await operate(`PATCH ${KEYS}/${id}`, { scope: ['read'] }), 'scope');
    for (const line of [`GET ${KEYS}/${UNKNOWN}`, `DELETE ${KEYS}/x`, `POST ${KEYS}/${UNKNOWN}/rotate`])
      expectRefusal(await operate(line), 404);
  });
});
