// An owner keeps assets in named, ordered collections; an asset in the trash comes back to its place.
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  addItems,
  type CollectionJson,
  createCollection,
  openAssets,
  type OwnCollection,
  readOrder,
  readPage,
  removeItem,
} from '../../support/assets/collections.ts';
import { expectFieldRefused, expectRefusal, expectSuccess } from '../../support/http/envelope.ts';
import { asUser, call, startTestService, type TestService } from '../../support/service.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService({ COLLECTIONS_PER_OWNER: '4', COLLECTION_MAX_ASSETS: '6' });
});
afterAll(() => service?.stop());

const ask = <T = CollectionJson>(user: string, line: string, json?: object) =>
  call<T>(service, line, { headers: asUser(user), ...(json && { json }) });
const readCollections = async (user: string, id: string) =>
  expectSuccess(await ask(user, `GET /media/${id}?expand=collections`))['collections'];
const newCollection = async (user: string): Promise<OwnCollection> => ({
  service,
  user,
  id: (await createCollection(service, user)).id,
});

test('a collection is created, changed, listed and deleted, and its assets stay', async () => {
  const created = await createCollection(service, 'ann', {
    name: 'Launch week',
    description: 'All talks',
    visibility: 'public',
    metadata: { season: 1 },
  });
  expect(created).toMatchObject({
    owner_user_id: 'ann',
    name: 'Launch week',
    description: 'All talks',
    visibility: 'public',
    metadata: { season: 1 },
    asset_count: 0,
  });
  const [assetId = ''] = await openAssets(service, 'ann', 1);
  expectSuccess(await addItems({ service, user: 'ann', id: created.id }, [assetId]));
  const changed = expectSuccess(
    await ask('ann', `PATCH /collections/${created.id}`, { name: 'Talks', description: null }),
  );
  expect(changed).toMatchObject({
    name: 'Talks',
    description: null,
    visibility: 'public',
    metadata: { season: 1 },
    asset_count: 1,
  });
  expect(expectSuccess(await ask('ann', `GET /collections/${created.id}`))).toEqual(changed);
  const { id: newer } = await createCollection(service, 'ann');
  const first = expectSuccess<{ items: CollectionJson[]; next_cursor: string }>(
    await ask('ann', 'GET /collections?limit=1'),
  );
  expect(first.items.map(({ id }) => id)).toEqual([newer]);
  const second = await ask<{ items: CollectionJson[]; next_cursor: null }>(
    'ann',
    `GET /collections?limit=1&cursor=${first.next_cursor}`,
  );
  expect(expectSuccess(second)).toEqual({ items: [changed], next_cursor: null });

  expect(expectSuccess(await ask('ann', `DELETE /collections/${created.id}`))).toEqual({
    id: created.id,
    deleted: true,
  });
  expectRefusal(await ask('ann', `DELETE /collections/${created.id}`), 404);
  expectRefusal(await ask('ann', `GET /collections/${created.id}`), 404);
  expect(await readCollections('ann', assetId)).toEqual([]);
});

test('a repeated creation with an Idempotency-Key is the same collection', async () => {
  const create = () =>
    call<CollectionJson>(service, 'POST /collections', {
      headers: { ...asUser('ida'), 'idempotency-key': 'first' },
      json: { name: 'Once' },
    });
  const { id } = expectSuccess(await create());
  expect(expectSuccess(await create()).id).toBe(id);
});

test.each([
  [{ name: '' }, 'name'],
  [{ name: ' \n' }, 'name'],
  [{ name: 'x'.repeat(256) }, 'name'],
  [{ name: 'a\u0000b' }, 'name'],
  [{}, 'name'],
  [{ name: 'a', description: 'x'.repeat(2001) }, 'description'],
  [{ name: 'a', visibility: 'secret' }, 'visibility'],
  [{ name: 'a', metadata: { a: 'x'.repeat(16 * 1024) } }, 'metadata'],
])('%j is refused', async (json, field) => {
  expectFieldRefused(await ask('ann', 'POST /collections', json), field);
});

test('a change refuses members that it does not know', async () => {
  const { id } = await newCollection('bob');
  const refused = await ask('bob', `PATCH /collections/${id}`, { nam: 'a' });
  expect(expectRefusal(refused, 400).details).toMatchObject({ field: 'nam', reason: 'unknown_member' });
});

test('an asset is added once, in the order of the request, and knows its collections', async () => {
  const [one, other] = [await newCollection('cara'), await newCollection('cara')];
  const [a = '', b = '', c = ''] = await openAssets(service, 'cara', 3);
  expect(expectSuccess(await addItems(one, [b, a.toUpperCase(), b]))).toMatchObject({
    changed_asset_ids: [b, a],
    asset_count: 2,
  });
  expect(expectSuccess(await addItems(one, [a, c], { position: 'start' }))).toMatchObject({
    changed_asset_ids: [c],
    asset_count: 3,
  });
  expect(await readOrder(one)).toEqual([c, b, a]);
  expect(expectSuccess(await addItems(other, [a]))).toMatchObject({ asset_count: 1 });
  expect(await readCollections('cara', a)).toEqual([other.id, one.id]);

  expect(expectSuccess(await removeItem(one, a))).toMatchObject({ changed_asset_ids: [a], asset_count: 2 });
  expect(expectSuccess(await removeItem(one, a))).toMatchObject({ changed_asset_ids: [], asset_count: 2 });
  expect(await readOrder(one)).toEqual([c, b]);
});

test('collections change the ETag of the expanded asset alone, which still guards a change', async () => {
  const collection = await newCollection('dan');
  const [id = ''] = await openAssets(service, 'dan', 1);
  const before = (await ask('dan', `GET /media/${id}`)).headers.get('etag') ?? '';
  expectSuccess(await addItems(collection, [id]));
  expect((await ask('dan', `GET /media/${id}`)).headers.get('etag')).toBe(before);
  const read = await call(service, `GET /media/${id}?expand=collections`, {
    headers: { ...asUser('dan'), 'if-none-match': before },
  });
  expect(expectSuccess(read)['collections']).toEqual([collection.id]);
  const etag = read.headers.get('etag') ?? '';
  const headers = { ...asUser('dan'), 'if-match': etag };
  expectSuccess(await call(service, `PATCH /media/${id}`, { headers, json: { title: 'New' } }));
  expectRefusal(await call(service, `PATCH /media/${id}`, { headers, json: { title: 'Old' } }), 412);
});

test('all assets of a request are added, or none', async () => {
  const collection = await newCollection('eve');
  const [a = ''] = await openAssets(service, 'eve', 1);
  const unknown = '0199aaaa-0000-7000-8000-000000000000';
  for (const missing of [unknown, 'no-uuid'])
    expect(expectRefusal(await addItems(collection, [a, missing]), 404).details).toMatchObject({
      field: 'asset_ids',
      asset_id: missing,
    });
  expectFieldRefused(await addItems(collection, []), 'asset_ids');
  expectFieldRefused(
    await addItems(
      collection,
      Array.from({ length: 101 }, () => a),
    ),
    'asset_ids',
  );
  expectFieldRefused(await addItems(collection, [a], { position: 'start', before: a }), 'position');
  expectFieldRefused(await addItems(collection, [a], { position: 'middle' }), 'position');
  expect(expectRefusal(await addItems(collection, [a], { after: unknown }), 409).details).toMatchObject({
    field: 'after',
    reason: 'not_in_collection',
  });
  expect(await readOrder(collection)).toEqual([]);
});

test('an asset in the trash keeps its place, and one that is deleted leaves', async () => {
  const collection = await newCollection('finn');
  const [a = '', b = '', c = ''] = await openAssets(service, 'finn', 3);
  expectSuccess(await addItems(collection, [a, b, c]));
  expectSuccess(await ask('finn', `DELETE /media/${b}?trash=true`));
  expect(await readOrder(collection)).toEqual([a, c]);
  expect(expectSuccess(await ask('finn', `GET /collections/${collection.id}`)).asset_count).toBe(2);
  expectRefusal(await addItems(collection, [b]), 404);
  expectSuccess(await ask('finn', `POST /media/${b}/restore`));
  expect(await readOrder(collection)).toEqual([a, b, c]);

  expectSuccess(await ask('finn', `DELETE /media/${b}?trash=true`));
  expectSuccess(await ask('finn', `DELETE /media/${b}`));
  expectSuccess(await ask('finn', `DELETE /media/${c}`));
  expect(await readOrder(collection)).toEqual([a]);
  // Neither takes a place of the six.
  expectSuccess(await addItems(collection, await openAssets(service, 'finn', 5)));
});

test('limits are refused with their values', async () => {
  const collection = await newCollection('gil');
  const ids = await openAssets(service, 'gil', 7);
  expect(expectRefusal(await addItems(collection, ids), 409).details).toMatchObject({
    reason: 'collection_full',
    limit: 6,
  });
  expectSuccess(await addItems(collection, ids.slice(1)));
  expectSuccess(await addItems(collection, ids.slice(1)));
  expectRefusal(await addItems(collection, ids.slice(0, 1)), 409);

  const answers = await Promise.all(
    Array.from({ length: 8 }, () => ask('gil', 'POST /collections', { name: 'More' })),
  );
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(3);
  const refused = answers.find(({ status }) => status !== 200);
  expect(refused && expectRefusal(refused, 409).details).toMatchObject({
    reason: 'too_many_collections',
    limit: 4,
  });
});

test('pages follow each other, also when the last asset of a page leaves', async () => {
  const collection = await newCollection('hal');
  const ids = await openAssets(service, 'hal', 5);
  expectSuccess(await addItems(collection, ids));
  expect(await readOrder(collection, 2)).toEqual(ids);
  const { next_cursor: cursor } = await readPage(collection, 'limit=2');
  expectSuccess(await removeItem(collection, ids[1] ?? ''));
  const next = await readPage(collection, `limit=2&cursor=${cursor}`);
  expect(next.items.map(({ asset }) => asset.id)).toEqual(ids.slice(2, 4));
  const other = await newCollection('hal');
  expectFieldRefused(await ask('hal', `GET /collections/${other.id}/items?cursor=${cursor}`), 'cursor');
});
