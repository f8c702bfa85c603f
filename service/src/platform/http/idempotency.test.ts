// Tests that a claim is renewed while its request runs, and that the first response is final.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTestPostgres, type TestPostgres } from '../../../../test/support/postgres/postgres.ts';
import { eventually } from '../../../../test/support/service.ts';
import { type Claim, createIdempotency, deleteExpiredKeys } from './idempotency.ts';
import { type Database, openDatabase, type Queries } from '../postgres/database.ts';
import { sql } from '../postgres/sql.ts';

let server: TestPostgres;
let db: Database;
beforeAll(async () => {
  server = await startTestPostgres();
  const connection = await server.migrated();
  db = openDatabase({ connection, onIdleError: () => {} });
});
afterAll(async () => {
  await db?.close();
  await server?.stop();
});

const newClaim = (): Claim => ({ caller: 'user ann', key: randomUUID(), fingerprint: 'same' });
const expire = ({ key }: Claim) =>
  db.one(
    sql(
      'test: expire key',
    )`update idempotency_keys set leased_until = now() - interval '1 s' where key = ${key}`,
  );
const isClaimed = async ({ key }: Claim) =>
  (
    await db.one(sql('test: is key claimed', { claimed: 'bool' })`
      select leased_until > now() as claimed from idempotency_keys where key = ${key}`)
  )?.claimed;

test('the claim is renewed while the request runs, so that a concurrent retry is rejected', async () => {
  const claim = newClaim();
  const once = createIdempotency(db, { renewEveryMs: 20 });
  const answered = await once(claim, async () => {
    await expire(claim);
    await eventually(
      () => isClaimed(claim),
      (claimed) => claimed === true,
    );
    await expect(once(claim, async () => 'second')).rejects.toMatchObject({
      code: 'CONFLICT',
      details: { reason: 'request_in_progress' },
      retryAfterSeconds: 1,
    });
    return 'first';
  });
  expect(answered).toEqual({ data: 'first', isReplay: false });
  expect(await once(claim, async () => 'third')).toEqual({ data: 'first', isReplay: true });
});

test('the claim of a killed process blocks its key for ten seconds', async () => {
  const claim = newClaim();
  await createIdempotency(db)(claim, async () => {
    const row = await db.one(sql('test: end of claim', { is_soon: 'bool' })`
      select leased_until between now() + interval '8 s' and now() + interval '10 s' as is_soon
        from idempotency_keys where key = ${claim.key}`);
    expect(row?.is_soon).toBe(true);
  });
});

test('a process that lost its claim does not replace the stored response', async () => {
  const claim = newClaim();
  // Never renews during the test, like a stopped process.
  const frozen = createIdempotency(db, { renewEveryMs: 600_000 });
  await frozen(claim, async () => {
    await expire(claim);
    await createIdempotency(db)(claim, async () => 'of the second process');
    return 'of the first process';
  });
  expect(await createIdempotency(db)(claim, async () => 'third')).toEqual({
    data: 'of the second process',
    isReplay: true,
  });
});

test('a response that is not final is not stored, and the key is free at once', async () => {
  const claim = newClaim();
  const once = createIdempotency(db);
  const isFinal = (data: string) => data !== 'half';
  expect(await once(claim, async () => 'half', isFinal)).toEqual({ data: 'half', isReplay: false });
  expect(await once(claim, async () => 'whole', isFinal)).toEqual({ data: 'whole', isReplay: false });
  expect(await once(claim, async () => 'half', isFinal)).toEqual({ data: 'whole', isReplay: true });
});

describe('keys that are a day old', () => {
  const insertOld = (count: number) =>
    db.all(sql('test: insert old keys', { key: 'text' })`
      insert into idempotency_keys (caller, key, fingerprint, resource_id, answer, created_at)
      select 'user ann', gen_random_uuid()::text, 'same', gen_random_uuid(), '"old"',
             now() - interval '1 day'
        from generate_series(1, ${count}::int)
      returning key`);
  const hasKey = async (key: string) =>
    (await db.one(sql('test: find key', { key: 'text' })`
      select key from idempotency_keys where key = ${key}`)) !== undefined;

  test('are deleted in batches', async () => {
    const fresh = newClaim();
    await createIdempotency(db)(fresh, async () => 'fresh');
    await insertOld(5);
    let statements = 0;
    const counted: Queries = {
      ...db,
      one: (statement) => {
        statements++;
        return db.one(statement);
      },
    };
    expect(await deleteExpiredKeys(counted, 2)).toBe(5);
    expect(statements).toBe(3);
    expect(await deleteExpiredKeys(counted, 2)).toBe(0);
    expect(await hasKey(fresh.key)).toBe(true);
  });

  test('are free again: a request deletes its own key, and no other', async () => {
    const [used, other] = (await insertOld(2)).map(({ key }) => key) as [string, string];
    const answered = await createIdempotency(db)({ ...newClaim(), key: used }, async () => 'new');
    expect(answered).toEqual({ data: 'new', isReplay: false });
    expect(await hasKey(other)).toBe(true);
  });
});
