// At a million assets every list is still a scan of one index (contract B3).
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { listItems, listPlayable } from '../../service/src/collections/collection-items.sql.ts';
import { listCollections } from '../../service/src/collections/collections.sql.ts';
import type { AssetFilter } from '../../service/src/library/asset-filter.ts';
import { hasMoreAssets, listAssets, listSortedAssets } from '../../service/src/library/list.sql.ts';
import { countAssets, findOldestProcessing } from '../../service/src/operations/metrics/metrics.sql.ts';
import { seedAssets } from '../../service/src/commands/seed.ts';
import { sessionOptions } from '../../service/src/platform/postgres/database.ts';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '@mediary/embedded-postgres/launcher';
import { migrate } from '../../service/src/platform/postgres/migrate.ts';
import { firstIdOf } from '../../service/src/platform/values/uuid.ts';
import { buffersOf, explain } from '../support/postgres/query-plans.ts';

const ASSETS = Number(process.env['MEDIARY_SCALE_ASSETS'] ?? 1_000_000);
/** A data folder that `npm run seed` has filled; without it the test fills a temporary one. */
const seededFolder = process.env['MEDIARY_SCALE_DATA'];
let folder: string;
let postgres: EmbeddedPostgres;
let client: pg.Client;

beforeAll(async () => {
  folder = seededFolder ?? (await mkdtemp(join(tmpdir(), 'mediary-scale-')));
  if (!seededFolder) await chmod(folder, 0o755);
  postgres = await startEmbeddedPostgres(folder);
  await migrate(postgres.connection);
  if (!seededFolder) await seedAssets({ connection: postgres.connection, assets: ASSETS });
  client = new pg.Client({ ...postgres.connection, options: sessionOptions() });
  await client.connect();
}, 900_000);

afterAll(async () => {
  await client?.end();
  await postgres?.stop();
  if (!seededFolder) await rm(folder, { recursive: true, force: true });
});

/** The plan of the statement that the list runs. */
const planOf = (
  filter: Omit<AssetFilter, 'owner' | 'isTrash'>,
  {
    isTrash = false,
    after,
    owner = 'owner-7',
    place,
  }: { isTrash?: boolean; after?: string; owner?: string | null; place?: number } = {},
): Promise<string> =>
  explain(
    client,
    (db) =>
      listAssets(
        db,
        { owner: owner ?? undefined, isTrash, ...filter },
        { after, limit: 51, isOldestFirst: false },
      ),
    place,
  );

test.each<[string, Omit<AssetFilter, 'owner' | 'isTrash'>, RegExp]>([
  ['all of an owner', {}, /assets_by_owner/],
  ['a kind', { kind: 'image' }, /assets_by_owner/],
  ['a status', { streamStatus: 'failed' }, /unfinished_by_owner/],
  ['the status of most', { streamStatus: 'ready' }, /assets_by_owner/],
  ['a provider', { provider: 'cdnhost' }, /assets_by_owner/],
  ['an unused provider', { provider: 'none' }, /assets_(by_owner|by_provider|to_count)/],
  ['a tag', { tags: ['tag-7'] }, /assets_by_(text|owner)/],
  ['an unused tag', { tags: ['none'] }, /assets_by_(text|owner)/],
  ['two tags', { tags: ['tag-7', 'none'] }, /assets_by_(text|owner)/],
  ['one of two tags', { tags: ['tag-7', 'none'], isAnyTag: true }, /assets_by_(text|owner)/],
  ['a member of metadata', { metadata: [['{"order_id":"7"}', '{"order_id":7}']] }, /assets_by_metadata/],
  ['a search', { text: '%file-7007.%' }, /assets_by_(text|owner)/],
  ['a search without results', { text: '%nowhere to be found%' }, /assets_by_text/],
  [
    'a time',
    { fromId: firstIdOf(Date.parse('2026-01-01')), belowId: firstIdOf(Date.parse('2026-02-01')) },
    /assets_by_owner/,
  ],
  [
    'a kind, a status and a provider at once',
    { kind: 'video', streamStatus: 'ready', provider: 'onprem' },
    /assets_by_/,
  ],
])('%s: one index scan, few pages', async (_what, filter, index) => {
  const plan = await planOf(filter);
  expect(plan).toMatch(index);
  expect(plan).not.toContain('Seq Scan');
  expect(buffersOf(plan)).toBeLessThan(2000);
});

test.each<[string, Omit<AssetFilter, 'owner' | 'isTrash'>, RegExp]>([
  ['all', {}, /assets_pkey/],
  ['a kind', { kind: 'image' }, /assets_pkey/],
  ['a status', { streamStatus: 'failed' }, /unfinished_by_status/],
  ['a provider', { provider: 'cdnhost' }, /assets_pkey|assets_by_provider/],
  ['an unused provider', { provider: 'none' }, /assets_by_provider|assets_to_count/],
  ['a tag', { tags: ['tag-7'] }, /assets_pkey|assets_by_text/],
  ['an unused tag', { tags: ['none'] }, /assets_by_text/],
  ['a member of metadata', { metadata: [['{"order_id":"7"}', '{"order_id":7}']] }, /assets_by_metadata/],
  ['a search without results', { text: '%nowhere to be found%' }, /assets_by_text/],
  [
    'a time',
    { fromId: firstIdOf(Date.parse('2026-01-01')), belowId: firstIdOf(Date.parse('2026-02-01')) },
    /assets_pkey/,
  ],
])('%s across owners: one index scan, few pages', async (_what, filter, index) => {
  const plan = await planOf(filter, { owner: null });
  expect(plan).toMatch(index);
  expect(plan).not.toContain('Seq Scan');
  expect(buffersOf(plan)).toBeLessThan(4000);
});

test.each<{ of: string; filter: Partial<AssetFilter>; owner: string | null; index: RegExp }>([
  { of: 'of an owner', filter: {}, owner: 'owner-7', index: /assets_by_owner/ },
  { of: 'of all owners', filter: {}, owner: null, index: /assets_pkey/ },
  {
    of: 'with a status, of all owners',
    filter: { streamStatus: 'failed' },
    owner: null,
    index: /unfinished_by_status/,
  },
])('a word that most assets have is found among the next ones $of', async ({ filter, owner, index }) => {
  const plan = await planOf({ ...filter, text: '%file%' }, { owner, place: 0 });
  expect(plan).toMatch(index);
  expect(plan).toContain('rows=51.00');
  expect(plan).not.toContain('Bitmap');
  expect(buffersOf(plan)).toBeLessThan(3000);
});

test('the trash of all owners is a scan of its own index', async () => {
  expect(await planOf({}, { isTrash: true, owner: null })).toMatch(/assets_all_in_trash/);
});

// The seed's trash is empty, so that both trash indexes cost the same.
test('the trash of an owner is a scan of a trash index', async () => {
  expect(await planOf({}, { isTrash: true })).toMatch(/assets_(all_)?in_trash/);
});

test('the last page costs as much as the first', async () => {
  const {
    rows: [oldest],
  } = await client.query<{ id: string }>(
    'select id from assets where owner_user_id = $1 order by id offset 40 limit 1',
    ['owner-7'],
  );
  const first = buffersOf(await planOf({}));
  const last = buffersOf(await planOf({}, { after: oldest?.id ?? '' }));
  expect(last).toBeLessThanOrEqual(first + 20);
});

describe('in another order than that of creation', () => {
  const MOST = 10_000;

  test.each<[string, Omit<AssetFilter, 'owner' | 'isTrash'>]>([
    ['all', {}],
    ['a kind', { kind: 'image' }],
    ['a status', { streamStatus: 'failed' }],
    ['a word that most assets have', { text: '%file%' }],
  ])('%s, across owners: the count stops at the limit', async (_what, filter) => {
    const all = { owner: undefined, isTrash: false, ...filter };
    const plan = await explain(client, (db) => hasMoreAssets(db, all, MOST));
    expect(plan).toContain(`rows=${MOST + 1}.00`);
    expect(buffersOf(plan)).toBeLessThan(5 * MOST);
  });

  test('a page reads the assets of its owner, and the rows of the page once more', async () => {
    const owner = 'owner-7';
    const { rows } = await client.query('select id from assets where owner_user_id = $1', [owner]);
    const plan = await explain(client, (db) =>
      listSortedAssets(
        db,
        { owner, isTrash: false },
        { order: { by: 'title', isDescending: false }, after: undefined, limit: 51 },
      ),
    );
    expect(plan).toMatch(/assets_by_(owner|text)/);
    expect(plan).not.toContain('Seq Scan');
    expect(buffersOf(plan)).toBeLessThan(rows.length * 1.5 + 500);
  });
});

test('the counts of /metrics read a small index and the unfinished assets, and not the table', async () => {
  await client.query('vacuum assets, unfinished_assets');
  const plan = await explain(client, countAssets);
  expect(plan).toMatch(/Index Only Scan using assets_to_count/);
  expect(plan).not.toContain('Seq Scan on assets');
  // Three of eight assets of the seed are unfinished.
  expect(buffersOf(plan)).toBeLessThan(200 + ASSETS / 200);
  const oldest = await explain(client, findOldestProcessing);
  expect(oldest).toMatch(/unfinished_by_status/);
  expect(oldest).not.toContain('Seq Scan');
});

describe('of a full collection beside a thousand others', () => {
  const id = '01990000-0000-7000-8000-000000000001';
  beforeAll(async () => {
    await client.query(`
      insert into collections (id, owner_user_id, name, visibility, created_at, updated_at)
      select ('01990000-0000-7000-8000-' || lpad(to_hex(number), 12, '0'))::uuid, 'owner-7', 'Named',
             'public', now(), now()
        from generate_series(1, 1000) as number`);
    await client.query(`
      insert into collection_items (collection_id, asset_id, position, added_at)
      select collections.id, chosen.id, chosen.place * 1000, now()
        from collections, (select id, row_number() over (order by id) as place
                             from assets where deleted_at is null limit 2000) as chosen
       where chosen.place <= 50 or collections.id = '${id}'`);
    await client.query('analyze collections, collection_items');
  });
  afterAll(() => client.query(`delete from collections where owner_user_id = 'owner-7'`));

  const pages = [undefined, 1_000_000].map((position) => ({
    id,
    after: position === undefined ? undefined : { numbering: 0, position, assetId: id },
    limit: 51,
  }));
  test.each(pages)('a page reads its rows alone', async (page) => {
    const plan = await explain(client, (db) => listItems(db, page));
    expect(plan).toMatch(/collection_items_in_order/);
    expect(plan).not.toContain('Seq Scan');
    expect(buffersOf(plan)).toBeLessThan(1000);
  });

  // The assets of the seed that are in it are not playable: the most that a page can cost.
  test.each(pages)('a playlist reads no more than the assets of the collection', async (page) => {
    const plan = await explain(client, (db) => listPlayable(db, { ...page, isPublicOnly: true }));
    expect(plan).not.toContain('Seq Scan');
    expect(buffersOf(plan)).toBeLessThan(2000 * 4 + 1000);
  });

  test('the list of an owner counts by an index', async () => {
    const plan = await explain(client, (db) =>
      listCollections(db, { owner: 'owner-7', belowId: undefined, limit: 51 }),
    );
    expect(plan).toMatch(/collections_(by_owner|pkey)/);
    expect(plan).not.toContain('Seq Scan');
    // Each of its assets, which may be in the trash.
    expect(buffersOf(plan)).toBeLessThan(51 * 50 * 5 + 2000 * 5);
  });
});
