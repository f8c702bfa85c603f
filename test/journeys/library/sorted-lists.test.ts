// An owner lists their assets by title, size, duration or last change (contract B3).
import type { Asset, AssetPage } from '@mediary/client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { expectRefusal, expectSuccess } from '../../support/http/envelope.ts';
import { IMAGE, openUpload, putBytes, VIDEO } from '../../support/media.ts';
import { asOperator, asUser, call, startTestService, type TestService } from '../../support/service.ts';
import { tell } from '../../support/providers/webhooks.ts';

const MAX_ASSETS = 12;
let service: TestService;
let made: readonly string[];
beforeAll(async () => {
  service = await startTestService({ MEDIARY_ROLE: 'api', SORTED_LIST_MAX_ASSETS: String(MAX_ASSETS) });
  made = await makeLibrary();
});
afterAll(() => service.stop());

const TITLES = ['pear', 'Apple', undefined, 'äpfel', 'apple', 'Zebra 😀', undefined, '10', 'pear'];

/** Images of several sizes, videos of several durations, and assets that have neither. */
async function makeLibrary(): Promise<readonly string[]> {
  const ids: string[] = [];
  for (const [index, title] of TITLES.entries()) {
    const fields = {
      ...(index % 3 === 1 ? VIDEO : IMAGE),
      filename: `file-${index}`,
      ...(title && { title }),
    };
    const upload = await openUpload(service, 'ann', fields);
    if (index % 3 === 0) await putBytes(upload, Buffer.alloc(1000 * (10 - index)));
    if (index % 3 === 1)
      await tell(service, 'onprem', {
        asset_id: upload.asset_id,
        status: 'ready',
        duration_ms: 900 * (20 - index),
      });
    ids.push(upload.asset_id);
  }
  return ids;
}

const ask = (query: string, headers = asUser('ann')) =>
  call<AssetPage>(service, `GET /media?${query}`, { headers });
const pageOf = async (query: string): Promise<AssetPage> => expectSuccess(await ask(query)) as AssetPage;

async function walk(query: string, between: () => Promise<unknown> = async () => {}): Promise<Asset[]> {
  const seen: Asset[] = [];
  for (let cursor: string | null = ''; cursor !== null; await between()) {
    const page: AssetPage = await pageOf(`${query}&limit=2${cursor && `&cursor=${cursor}`}`);
    seen.push(...page.items);
    cursor = page.next_cursor;
  }
  return seen;
}

const idsOf = (assets: readonly Asset[]) => assets.map(({ id }) => id);
const titleOf = ({ title, filename }: Asset) => (title ?? filename).toLowerCase();
const byCodePoint = (one: string, other: string) => Buffer.compare(Buffer.from(one), Buffer.from(other));

test('by title, or by the file name where an asset has none', async () => {
  const assets = await walk('sort=title');
  expect([...idsOf(assets)].sort()).toEqual([...made].sort());
  const expected = assets.toSorted(
    (one, other) => byCodePoint(titleOf(one), titleOf(other)) || byCodePoint(one.id, other.id),
  );
  expect(idsOf(assets)).toEqual(idsOf(expected));
  expect(idsOf(await walk('sort=-title'))).toEqual(idsOf(expected).toReversed());
});

describe.each(['size_bytes', 'duration_ms'] as const)('by %s', (field) => {
  test.each([1, -1])('in direction %i, and assets without it come last', async (direction) => {
    const assets = await walk(`sort=${direction < 0 ? '-' : ''}${field}`);
    const values = assets.map((asset) => asset[field]);
    const known = values.filter((value): value is number => typeof value === 'number');
    expect(known).toHaveLength(3);
    expect(new Set(known).size).toBe(3);
    expect(values.slice(0, 3)).toEqual(known.toSorted((one, other) => direction * (one - other)));
    expect([...idsOf(assets)].sort()).toEqual([...made].sort());
  });
});

test('by the last change', async () => {
  const [first = '', second = ''] = made;
  const before = (await pageOf('sort=-updated_at&limit=1')).items[0];
  for (const id of [second, first])
    expectSuccess(
      await call(service, `PATCH /media/${id}`, { headers: asUser('ann'), json: { tags: ['seen'] } }),
    );
  expect(idsOf(await walk('sort=-updated_at')).slice(0, 2)).toEqual([first, second]);
  expect(idsOf(await walk('sort=updated_at')).slice(-2)).toEqual([second, first]);
  const { items } = await pageOf(`sort=updated_at&updated_after=${before?.updated_at}`);
  expect(idsOf(items)).toEqual([second, first]);
});

test('filters and counts hold in every order', async () => {
  const page = await pageOf('sort=-duration_ms&kind=video&stream_status=ready&count=true&limit=1');
  expect(page.items.map(({ kind }) => kind)).toEqual(['video']);
  expect(page.total).toBe(3);
  const waiting = await walk('sort=title&stream_status=pending_upload&kind=image');
  expect(waiting.every(({ stream_status }) => stream_status === 'pending_upload')).toBe(true);
  expect(waiting.length).toBeGreaterThan(0);
});

test('a page keeps its place while assets are added and renamed behind it', async () => {
  const headers = asUser('ann');
  const extra: string[] = [];
  const seen = await walk('sort=title', async () => {
    if (extra.length < 2)
      extra.push((await openUpload(service, 'ann', { ...IMAGE, title: '0 comes first' })).asset_id);
  });
  expect([...idsOf(seen)].sort()).toEqual([...made].sort());
  for (const id of extra) expectSuccess(await call(service, `DELETE /media/${id}`, { headers }));
});

test('a cursor belongs to its order', async () => {
  const { next_cursor: cursor } = await pageOf('sort=title&limit=2');
  for (const sort of ['-title', 'created_at', 'size_bytes'])
    expectRefusal(await ask(`sort=${sort}&limit=2&cursor=${cursor}`), 400);
});

test('an unknown order is refused with the known ones', async () => {
  const refusal = expectRefusal(await ask('sort=colour'), 400);
  expect(refusal.details).toMatchObject({
    field: 'sort',
    allowed: expect.arrayContaining(['title', '-title']),
  });
});

describe('more assets than may be sorted', () => {
  beforeAll(async () => {
    for (let count = 0; count <= MAX_ASSETS; count++)
      await openUpload(service, 'ben', count % 4 ? VIDEO : IMAGE);
  });
  const asBen = asUser('ben');

  test.each([
    ['sort=title', 'sort'],
    ['updated_after=2020-01-01', 'updated_after'],
  ])('%s is refused with the limit', async (query, field) => {
    const refusal = expectRefusal(await ask(query, asBen), 400);
    expect(refusal.details).toMatchObject({ field, reason: 'too_many_to_sort', limit: MAX_ASSETS });
  });

  test('filters leave few enough, and the order of creation has no limit', async () => {
    expectSuccess(await ask('sort=title&kind=video', asBen));
    expectSuccess(await ask('sort=created_at', asBen));
  });

  test('operators are held to it across owners', async () => {
    const all = (query: string) =>
      call<AssetPage>(service, `GET /admin/media?${query}`, { headers: asOperator });
    expect(expectRefusal(await all('sort=-size_bytes'), 400).details).toMatchObject({ limit: MAX_ASSETS });
    const { items } = expectSuccess(await all('sort=-size_bytes&owner_user_id=ann')) as AssetPage;
    expect(items[0]?.size_bytes).toBe(10_000);
  });
});
