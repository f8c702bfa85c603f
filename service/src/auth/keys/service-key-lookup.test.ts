// How often named service keys are read from the database, and when changes of them take effect.
import { beforeEach, describe, expect, test } from 'vitest';
import { createLogger } from '../../platform/observability/logger.ts';
import type { Database } from '../../platform/postgres/database.ts';
import { createNamedKey, digestOfKey } from './service-key-grant.ts';
import { createServiceKeyLookup, type ServiceKeyLookup } from './service-key-lookup.ts';
import type { ServiceKeyRow } from './service-keys.sql.ts';

const START = new Date('2026-11-22T10:00:00Z');
const DAY_MS = 86_400_000;

let rows: ServiceKeyRow[];
let reads: number;
let uses: number;
let elapsed: number;
let isDown: boolean;
let lookup: ServiceKeyLookup;
beforeEach(() => {
  [rows, reads, uses, elapsed, isDown] = [[], 0, 0, 0, false];
  const db: Pick<Database, 'all' | 'one'> = {
    all: async () => {
      reads += 1;
      if (isDown) throw new Error('down');
      return rows as never;
    },
    one: async () => {
      uses += 1;
      return undefined;
    },
  };
  lookup = createServiceKeyLookup(
    {
      db: db as Database,
      log: createLogger('silent'),
      now: () => new Date(START.getTime() + elapsed),
    },
    () => elapsed,
  );
});

/** Stores a key as another process would. */
function store(members: Partial<ServiceKeyRow> = {}): string {
  const key = createNamedKey();
  const row: ServiceKeyRow = {
    id: `id-${rows.length}`,
    name: 'billing',
    key_hash: digestOfKey(key),
    key_hint: key.slice(-4),
    previous_hash: null,
    previous_expires_at: null,
    scopes: ['read'],
    owner_prefixes: ['shop_'],
    expires_at: null,
    last_used_at: null,
    created_at: START,
    revoked_at: null,
    ...members,
  };
  rows = [...rows, row];
  return key;
}

const GRANT = { id: 'id-0', name: 'billing', scopes: ['read'], ownerPrefixes: ['shop_'] };

describe('a named service key', () => {
  test('is found, with one query for all requests of three seconds', async () => {
    const key = store();
    expect(await Promise.all([lookup.find(key), lookup.find(key)])).toEqual([GRANT, GRANT]);
    elapsed = 2999;
    expect(await lookup.find(key)).toEqual(GRANT);
    expect(reads).toBe(1);
    elapsed = 3000;
    await lookup.find(key);
    expect(reads).toBe(2);
  });

  test('that another process created is found at once, or a second after the last query', async () => {
    await lookup.find(store());
    elapsed = 1000;
    expect(await lookup.find(store({ name: 'search' }))).toMatchObject({ name: 'search' });
  });

  test('that another process revoked is refused after three seconds', async () => {
    const key = store();
    await lookup.find(key);
    rows = [];
    elapsed = 3000;
    expect(await lookup.find(key)).toBeUndefined();
  });

  test('that this process changed is read again at once, even if a query is running', async () => {
    const key = store();
    const before = lookup.find(key);
    rows = [];
    lookup.invalidate();
    await before;
    expect(await lookup.find(key)).toBeUndefined();
  });

  test('expires, and so does the one that a rotation replaced', async () => {
    const old = createNamedKey();
    const key = store({
      expires_at: new Date(START.getTime() + 2 * DAY_MS),
      previous_hash: digestOfKey(old),
      previous_expires_at: new Date(START.getTime() + DAY_MS),
    });
    expect([await lookup.find(key), await lookup.find(old)]).toEqual([GRANT, GRANT]);
    elapsed = DAY_MS;
    expect([await lookup.find(key), await lookup.find(old)]).toEqual([GRANT, 'expired']);
    elapsed = 2 * DAY_MS;
    expect(await lookup.find(key)).toBe('expired');
  });

  test('has its use recorded once a minute', async () => {
    const key = store();
    for (elapsed = 0; elapsed < 60_000; elapsed += 500) await lookup.find(key);
    expect(uses).toBe(1);
    elapsed = 60_000;
    await lookup.find(key);
    expect(uses).toBe(2);
  });
});

test('wrong keys cost at most one query a second, however many arrive', async () => {
  const flood = () => Promise.all(Array.from({ length: 1000 }, () => lookup.find(createNamedKey())));
  for (elapsed = 0; elapsed < 1000; elapsed += 250)
    expect(new Set(await flood())).toEqual(new Set([undefined]));
  expect(reads).toBe(1);
  elapsed = 1000;
  await flood();
  expect(reads).toBe(2);
});

test('without the database the request fails, and the next one asks again', async () => {
  const key = store();
  isDown = true;
  await expect(lookup.find(key)).rejects.toThrow('down');
  isDown = false;
  expect(await lookup.find(key)).toEqual(GRANT);
});
