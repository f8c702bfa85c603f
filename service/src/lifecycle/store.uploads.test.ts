// Tests with a real database that uploads are recorded with the asset that they change, that what belongs to
// one asset is refused to others, and that two assets change together (contract B4).
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { rowsOf, startTestPostgres, type TestPostgres } from '../../../test/support/postgres/postgres.ts';
import { recordStatements } from '../../../test/support/postgres/query-plans.ts';
import type { Asset } from '../assets/asset.ts';
import { newEvent } from '../assets/asset-event.ts';
import { createAssetLoader } from '../assets/asset-lookup.ts';
import type { ServiceJobs } from '../jobs.ts';
import type { Connection } from '../platform/postgres/connection.ts';
import { type Database, openDatabase } from '../platform/postgres/database.ts';
import { uuidV7 } from '../platform/values/uuid-v7.ts';
import { hostedUploadId, smallPutUploadId } from '../storage/upload-id.ts';
import { createVideo, NOW } from './asset.fixture.ts';
import type { AssetWrite, UploadRecord } from './decisions/change.ts';
import { type AssetStore, createAssetStore } from './store.ts';
import { finishUnheldUploads } from './unheld-uploads.sql.ts';

const LATER = new Date(NOW.getTime() + 3_600_000);

let server: TestPostgres;
let connection: Connection;
let db: Database;
let store: AssetStore;

beforeAll(async () => {
  server = await startTestPostgres();
  connection = await server.migrated();
  db = openDatabase({ connection, onIdleError: () => {} });
  const jobs = {} as ServiceJobs;
  const loader = createAssetLoader(db);
  store = createAssetStore({ db, loader, jobs, settings: { purgeGraceDays: 0 }, now: () => NOW });
});
afterAll(async () => {
  await db.close();
  await server.stop();
});

const STORED = { uploaded_at: NOW, size_bytes: 3, upload_expires_at: LATER };

const createAsset = (more: Partial<Asset> = {}): Promise<Asset> =>
  store.createAsset({ ...createVideo({ id: uuidV7() }), upload_expires_at: LATER, ...more }, {});

const change = (set: AssetWrite['set']): AssetWrite => ({ set, events: [], jobs: [] });

const insertUpload = (assetId: string, writer: string) =>
  rowsOf(
    connection,
    `insert into uploads
       (id, asset_id, owner_user_id, attempt, protocol, lease_holder, lease_until, expires_at)
     values ($1, $2, 'ann', 1, 'put', $1, now() + interval '1 minute', now() + interval '1 hour')`,
    [writer, assetId],
  );

test('a writer finishes its upload only while it holds the lease', async () => {
  const created = await createAsset();
  const { id } = created;
  const writer = uuidV7();
  await insertUpload(id, writer);
  const finish = () =>
    store.update(created, () => ({
      ...change({ uploaded_at: NOW, size_bytes: 3 }),
      finishes: { upload: writer, holder: writer },
    }));
  await rowsOf(connection, 'update uploads set lease_holder = null where id = $1', [writer]);
  expect(await finish()).toBeUndefined();
  expect((await createAssetLoader(db).find(id))?.uploaded_at).toBeNull();
  await rowsOf(connection, 'update uploads set lease_holder = id where id = $1', [writer]);
  expect((await finish())?.asset.uploaded_at).toEqual(NOW);
  expect(
    await rowsOf(connection, 'select lease_holder, bytes_received, finished_at from uploads where id = $1', [
      writer,
    ]),
  ).toEqual([{ lease_holder: null, bytes_received: 3, finished_at: NOW }]);
  expect(await finish(), 'an upload finishes once').toBeUndefined();
});

const uploadsOf = (assetId: string) =>
  rowsOf(
    connection,
    `select id, protocol, target, size_bytes, bytes_received, expires_at, finished_at
       from uploads where asset_id = $1`,
    [assetId],
  );

const recordOf = (asset: Asset): UploadRecord => ({
  id: smallPutUploadId(asset),
  protocol: 'put',
  target: null,
  isFinished: true,
});

test('a presigned PUT is recorded as finished with the pointer to its object', async () => {
  const created = await createAsset();
  const upload = uuidV7();
  const finish = (seen: Asset) =>
    store.update(seen, () => ({
      ...change({ size_bytes: 3, original_upload: upload }),
      records: { id: upload, protocol: 'put', target: null, isFinished: true },
    }));
  await finish(created);
  expect(await uploadsOf(created.id)).toEqual([
    {
      id: upload,
      protocol: 'put',
      target: null,
      size_bytes: 3,
      bytes_received: 3,
      expires_at: LATER,
      finished_at: NOW,
    },
  ]);
});

describe('a small PUT', () => {
  const finishSmallPut = (seen: Asset, sha256: string) => {
    const recordsUnlessHeld = recordOf(seen);
    const set = { ...STORED, checksum_sha256: sha256, original_upload: recordsUnlessHeld.id };
    return store.update(seen, () => ({
      ...change(set),
      events: [newEvent('asset.uploaded', {})],
      recordsUnlessHeld,
    }));
  };

  test('is recorded as finished, with the earliest asset of the same bytes', async () => {
    const [first, second] = [await createAsset(), await createAsset()];
    expect((await finishSmallPut(first, 'aa'))?.asset.duplicate_of).toBeNull();
    const finished = (await finishSmallPut(second, 'aa'))?.asset;
    expect(finished).toMatchObject({ duplicate_of: first.id, uploaded_at: NOW, revision: 2 });
    expect(await createAssetLoader(db).find(second.id)).toEqual(finished);
    expect(await uploadsOf(second.id)).toEqual([
      expect.objectContaining({
        id: smallPutUploadId(second),
        protocol: 'put',
        bytes_received: 3,
        finished_at: NOW,
      }),
    ]);
    const types = await rowsOf(
      connection,
      'select type, revision from events where asset_id = $1 order by 2',
      [second.id],
    );
    expect(types).toEqual([
      { type: 'asset.created', revision: 1 },
      { type: 'asset.uploaded', revision: 2 },
    ]);
  });

  test('gives way to a request that writes the asset, and to any other change', async () => {
    const [written, changed] = [await createAsset(), await createAsset()];
    await insertUpload(written.id, uuidV7());
    await store.update(changed, () => change({ title: 'x' }));
    for (const seen of [written, changed]) {
      expect(await finishSmallPut(seen, 'bb')).toBeUndefined();
      expect((await createAssetLoader(db).find(seen.id))?.uploaded_at).toBeNull();
    }
  });

  test('finds duplicates by their index, however frequent a digest is', async () => {
    const created = await Promise.all(Array.from({ length: 300 }, createAsset));
    await Promise.all(created.map((asset) => finishSmallPut(asset, 'cc')));
    await rowsOf(connection, 'analyze assets', []);
    const seen = created[0] as Asset;
    const decision = { ...change(STORED), events: [], recordsUnlessHeld: recordOf(seen) };
    const removals = { keys: [], graceDays: 0 };
    const [statement] = await recordStatements((recording) =>
      finishUnheldUploads(recording, [{ seen, decision, now: NOW, removals, traceparent: undefined }]),
    );
    const plan = await rowsOf(connection, `explain (generic_plan) ${statement?.text}`, []);
    expect(JSON.stringify(plan)).toContain('using assets_by_bytes on assets same');
  });
});

describe('an upload to a hosted provider', () => {
  async function link(): Promise<Asset> {
    const created = await createAsset();
    const linkTo = (seen: Asset, video: string) =>
      store.update(seen, () => ({
        ...change({ provider: 'cdnhost', provider_video_id: video }),
        records: {
          id: hostedUploadId(seen),
          protocol: 'hosted',
          isFinished: false,
          target: { provider: 'cdnhost', video_id: video, protocol: 'tus' },
        },
      }));
    const first = await linkTo(created, `${created.id}-1`);
    return (await linkTo(first?.asset as Asset, `${created.id}-2`))?.asset as Asset;
  }

  test('has one row in an attempt, which names the latest video', async () => {
    const linked = await link();
    expect(await uploadsOf(linked.id)).toEqual([
      expect.objectContaining({
        protocol: 'hosted',
        target: { provider: 'cdnhost', video_id: linked.provider_video_id, protocol: 'tus' },
        finished_at: null,
      }),
    ]);
  });

  test.each<[string, AssetWrite['set'], readonly object[]]>([
    ['is finished when processing starts', { stream_status: 'processing' }, [{ finished_at: NOW }]],
    ['is finished by a ready report', { stream_status: 'ready', size_bytes: 9 }, [{ bytes_received: 9 }]],
    ['stays while its asset is in the trash', { deleted_at: NOW, purge_at: LATER }, [{ finished_at: null }]],
    ['goes when its asset fails', { stream_status: 'failed' }, []],
    ['goes when its asset is purged', { deleted_at: NOW, purge_at: null }, []],
  ])('%s', async (_, set, rows) => {
    const linked = await link();
    await store.update(linked, () => change(set));
    expect(await uploadsOf(linked.id)).toEqual(rows.map((row) => expect.objectContaining(row)));
  });
});

test.each([
  ['a video of a provider', { provider: 'cdnhost', provider_video_id: 'taken' }, 'provider_video_id'],
  ['an id of the application', { external_id: 'taken' }, 'external_id'],
])('%s is refused to others until its asset is deleted', async (_, set, field) => {
  const [first, second] = [await createAsset(set), await createAsset()];
  const refusal = { code: 'CONFLICT', details: { field } };
  await expect(createAsset(set)).rejects.toMatchObject(refusal);
  await expect(store.update(second, () => change(set))).rejects.toMatchObject(refusal);
  const gone = await store.update({ assetId: first.id }, () => change({ deleted_at: NOW }));
  expect((await store.update(second, () => change(set)))?.asset).toMatchObject(set);
  const back = store.update(gone?.asset ?? first, () => change({ deleted_at: null }));
  await expect(back).rejects.toMatchObject(refusal);
});

test('two assets change together, or neither of them', async () => {
  const [one, two] = [await createAsset(), await createAsset()];
  const both = [one, two].map((seen) => ({ seen, decision: change({ title: 'together' }) }));
  expect(await store.updateTogether(both)).toBe(true);
  const [seen, other] = await Promise.all([one, two].map(({ id }) => createAssetLoader(db).find(id)));
  expect([seen?.title, other?.title]).toEqual(['together', 'together']);
  const stale = [{ seen: seen as Asset, decision: change({ title: 'alone' }) }, ...both.slice(1)];
  expect(await store.updateTogether(stale)).toBe(false);
  expect(await createAssetLoader(db).find(one.id)).toEqual(seen);
});
