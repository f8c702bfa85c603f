// Tests with a real database that no change is lost, and that state, event and job commit together.
import pg from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { rowsOf, startTestPostgres, type TestPostgres } from '../../../test/support/postgres/postgres.ts';
import type { Asset, NewAsset } from '../assets/asset.ts';
import { newEvent } from '../assets/asset-event.ts';
import { createAssetLoader } from '../assets/asset-lookup.ts';
import type { Connection } from '../platform/postgres/connection.ts';
import { type Database, openDatabase } from '../platform/postgres/database.ts';
import { uuidV7 } from '../platform/values/uuid-v7.ts';
import type { AssetChange } from './decisions/change.ts';
import { type AssetStore, createAssetStore } from './store.ts';

const CREATED = new Date('2026-01-01T10:00:00.000Z');
const NOW = new Date('2026-01-01T10:05:00.000Z');

let server: TestPostgres;
let connection: Connection;
let db: Database;
/** The jobs that were sent; `failSending` makes sending fail. */
const sent: { readonly tx: unknown; readonly owner: string; readonly job: { readonly payload: object } }[] =
  [];
let failSending = false;

beforeAll(async () => {
  server = await startTestPostgres();
  connection = await server.migrated();
  db = openDatabase({ connection, onIdleError: () => {} });
});
afterAll(async () => {
  await db.close();
  await server.stop();
});
afterEach(() => {
  sent.length = 0;
  failSending = false;
});

/** A store of another process, with its own batches and mutex. */
const openStore = (): AssetStore =>
  createAssetStore({
    db,
    loader: createAssetLoader(db),
    jobs: {
      sendFor: async (tx, owner, job) => {
        if (failSending) throw new Error('the queue is down');
        sent.push({ tx, owner, job });
      },
    },
    settings: { purgeGraceDays: 0 },
    now: () => NOW,
  });

const newAsset = (more: Partial<NewAsset> = {}): NewAsset => ({
  id: uuidV7(),
  owner_user_id: 'ann',
  kind: 'video',
  filename: 'clip.mp4',
  content_type: 'video',
  mime_type: 'video/mp4',
  visibility: 'private',
  title: 'A title',
  tags: ['a', 'b'],
  metadata: { nested: { list: [1, null] } },
  external_id: null,
  focal_point: null,
  access: null,
  chapters: null,
  expires_at: null,
  announced_size_bytes: null,
  max_duration_s: null,
  announced_sha256: null,
  provider: 'onprem',
  provider_video_id: null,
  upload_expires_at: null,
  clip_of: null,
  version_of: null,
  attempt: 1,
  reconcile_at: null,
  created_at: CREATED,
  ...more,
});

const change = (set: AssetChange['set'], more: Partial<AssetChange> = {}): AssetChange => ({
  set,
  events: [],
  jobs: [],
  ...more,
});
const job = { name: 'purge-asset', payload: { assetId: 'any' } } as const;
const stored = async (id: string) => (await createAssetLoader(db).find(id)) as Asset;
const eventsOf = (id: string) =>
  rowsOf(connection, 'select type, revision from events where asset_id = $1 order by revision', [id]);

describe('creating an asset', () => {
  test('commits with what runs alongside, or not at all', async () => {
    const store = openStore();
    const [created, failed] = [newAsset(), newAsset()];
    const { id } = await store.createAsset(created, {}, { alongside: async () => {} });
    expect(await eventsOf(id)).toEqual([{ type: 'asset.created', revision: 1 }]);
    const alongside = async () => {
      throw new Error('the queue is down');
    };
    await expect(store.createAsset(failed, {}, { alongside })).rejects.toThrow('the queue is down');
    expect(await stored(failed.id)).toBeUndefined();
    expect(await eventsOf(failed.id)).toEqual([]);
  });

  test('runs nothing alongside if the asset exists', async () => {
    const store = openStore();
    const asset = newAsset();
    const created = await store.createAsset(asset, {});
    const alongside = async () => {
      throw new Error('called for an existing asset');
    };
    expect(await store.createAsset(asset, {}, { alongside })).toEqual(created);
  });
});

describe('a change', () => {
  test('sets the named columns only', async () => {
    const store = openStore();
    const before = await store.createAsset(newAsset(), {});
    const updated = await store.update(before, () =>
      change({
        metadata: null,
        tags: ['c'],
        poster_time_ms: 7,
        failure: { code: 'x', message: 'y', retryable: true },
      }),
    );
    const expected = {
      ...before,
      metadata: null,
      tags: ['c'],
      poster_time_ms: 7,
      failure: { code: 'x', message: 'y', retryable: true },
      revision: 2,
      updated_at: NOW,
    };
    expect(updated?.asset).toEqual(expected);
    expect(await stored(before.id)).toEqual(expected);
  });

  test('of invisible columns keeps updated_at', async () => {
    const store = openStore();
    const { id } = await store.createAsset(newAsset(), {});
    await store.update({ assetId: id }, () => change({ reconcile_at: NOW }));
    expect(await stored(id)).toMatchObject({ reconcile_at: NOW, updated_at: CREATED, revision: 2 });
  });

  test('without columns writes nothing', async () => {
    const store = openStore();
    const asset = await store.createAsset(newAsset(), {});
    expect((await store.update(asset, () => change({})))?.asset).toEqual(asset);
    expect((await store.update(asset, () => undefined))?.asset).toEqual(asset);
    expect((await stored(asset.id)).revision).toBe(1);
  });

  test('of an asset that does not exist returns undefined', async () => {
    expect(await openStore().update({ assetId: uuidV7() }, () => change({ title: 'x' }))).toBeUndefined();
  });
});

test('no change of concurrent writers is lost', async () => {
  const stores = [openStore(), openStore(), openStore()];
  const asset = await (stores[0] as AssetStore).createAsset(newAsset(), {});
  const raise = (seen: Asset) =>
    change({ version: seen.version + 1 }, { events: [newEvent('asset.updated')], jobs: [job] });
  await Promise.all(stores.flatMap((store) => Array.from({ length: 8 }, () => store.update(asset, raise))));
  expect(await stored(asset.id)).toMatchObject({ version: 25, revision: 25 });
  expect((await eventsOf(asset.id)).map(({ revision }) => revision)).toEqual(
    Array.from({ length: 25 }, (_, index) => index + 1),
  );
  expect(sent).toHaveLength(24);
});

test('a job that cannot be sent leaves neither state nor event', async () => {
  const store = openStore();
  const asset = await store.createAsset(newAsset(), {});
  failSending = true;
  const deletion = change({ deleted_at: NOW }, { events: [newEvent('asset.deleted')], jobs: [job] });
  await expect(store.update(asset, () => deletion)).rejects.toThrow('the queue is down');
  expect(await stored(asset.id)).toEqual(asset);
  expect(await eventsOf(asset.id)).toEqual([{ type: 'asset.created', revision: 1 }]);
});

test('the jobs of a transaction are sent in the order of their queues and owners', async () => {
  const store = openStore();
  // In an order that differs from that of the queues.
  const writes = await Promise.all(
    Array.from({ length: 12 }, async (_, index) => ({
      asset: await store.createAsset(newAsset({ owner_user_id: index % 3 === 0 ? 'bob' : 'ann' }), {}),
      provider: index % 2 === 0 ? 'edgehost' : 'cdnhost',
    })),
  );
  await Promise.all(
    writes.map(({ asset, provider }) =>
      store.update(asset, () =>
        change(
          { title: 'x' },
          { jobs: [{ name: 'transfer-import', payload: { provider, assetId: asset.id, attempt: 1 } }] },
        ),
      ),
    ),
  );
  const batches = Map.groupBy(sent, ({ tx }) => tx);
  expect(batches.size).toBeLessThan(writes.length);
  for (const batch of batches.values()) {
    const locks = batch.map(
      ({ owner, job: { payload } }) => `${'provider' in payload && payload.provider} ${owner}`,
    );
    expect(locks).toEqual(locks.toSorted());
  }
});

test('an owner over its quota fails without failing the others of its batch', async () => {
  for (const owner of ['full', 'free']) await rowsOf(connection, 'select track_owner_usage($1)', [owner]);
  await rowsOf(connection, `update owner_usage set overrides = '{"assets": 1}'`);
  const store = openStore();
  await store.createAsset(newAsset({ owner_user_id: 'full' }), {});
  const results = await Promise.allSettled(
    ['full', 'free', 'full'].map((owner) => store.createAsset(newAsset({ owner_user_id: owner }), {})),
  );
  expect(results.map((result) => (result.status === 'rejected' ? result.reason.code : 'stored'))).toEqual([
    'MQ002',
    'stored',
    'MQ002',
  ]);
});

test('only visible changes notify listeners', async () => {
  const listener = new pg.Client(connection);
  await listener.connect();
  const heard: (string | undefined)[] = [];
  listener.on('notification', ({ payload }) => heard.push(payload));
  await listener.query('listen mediary_events');
  const store = openStore();
  const [quiet, loud] = [await store.createAsset(newAsset(), {}), await store.createAsset(newAsset(), {})];
  await store.update(quiet, () => change({ reconcile_at: NOW }));
  await store.update(loud, () => change({ title: 'x' }, { events: [newEvent('asset.updated')] }));
  // The response arrives after the notifications of all earlier commits.
  await listener.query('select 1');
  await listener.end();
  expect(heard).toEqual([quiet.id, loud.id, loud.id]);
});
