// An owner lists their assets, newest first; reading all pages returns each asset once (contract B3; security
// B2, B3).
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { expectFieldRefused, expectRefusal, expectSuccess } from '../../support/http/envelope.ts';
import { type AssetJson, openUpload } from '../../support/media.ts';
import { asService, asUser, call, startTestService, type TestService } from '../../support/service.ts';

type Page = { items: AssetJson[]; next_cursor: string | null };

let service: TestService;
beforeAll(async () => {
  service = await startTestService({ MEDIARY_ROLE: 'api' });
});
afterAll(() => service.stop());

const ask = (query: string, headers: Record<string, string>) =>
  call<Page>(service, `GET /media${query}`, { headers });
const pageOf = async (query: string, headers: Record<string, string>): Promise<Page> =>
  expectSuccess(await ask(query, headers)) as Page;
const idsOf = ({ items }: Page) => items.map(({ id }) => id);
const make = async (user: string, count: number): Promise<string[]> => {
  const ids: string[] = [];
  for (let made = 0; made < count; made++) ids.push((await openUpload(service, user)).asset_id);
  return ids;
};

/** All ids that a walk sees; `between` is done after each page. */
async function walk(
  query: string,
  headers: Record<string, string>,
  between: () => Promise<unknown> = async () => undefined,
): Promise<string[]> {
  const seen: string[] = [];
  for (let cursor: string | null = ''; cursor !== null; ) {
    const page: Page = await pageOf(`${query}${cursor && `&cursor=${cursor}`}`, headers);
    seen.push(...idsOf(page));
    cursor = page.next_cursor;
    await between();
  }
  return seen;
}

test('an owner without assets gets an empty list', async () => {
  expect(await pageOf('', asUser('nobody-yet'))).toEqual({ items: [], next_cursor: null });
});

test('lists newest first, each asset as GET returns it', async () => {
  const ids = await make('ann', 3);
  const page = await pageOf('', asUser('ann'));
  expect(idsOf(page)).toEqual([...ids].reverse());
  expect(page.next_cursor).toBeNull();
  expect(page.items[0]).toEqual(
    (await call<AssetJson>(service, `GET /media/${ids[2]}`, { headers: asUser('ann') })).body.data,
  );
});

describe('limit', () => {
  test.each(['0', '201', '-1', 'abc', '1.5', '1e2', '', ' 5', '0x10', '5,6', '99999999999999999999', '٣'])(
    '%j is rejected',
    async (limit) => {
      expectFieldRefused(await ask(`?limit=${encodeURIComponent(limit)}`, asUser('ann')), 'limit');
    },
  );

  test('1 and 200 are accepted, and 50 is the default', async () => {
    await make('lea', 51);
    expect((await pageOf('?limit=1', asUser('lea'))).items).toHaveLength(1);
    expect((await pageOf('?limit=200', asUser('lea'))).items).toHaveLength(51);
    expect((await pageOf('', asUser('lea'))).items).toHaveLength(50);
  });

  test('a full last page has no next_cursor', async () => {
    await make('max', 4);
    const first = await pageOf('?limit=2', asUser('max'));
    expect((await pageOf(`?limit=2&cursor=${first.next_cursor}`, asUser('max'))).next_cursor).toBeNull();
  });
});

describe('reading all pages', () => {
  test('returns each asset exactly once while others are created and deleted', async () => {
    const before = await make('ida', 23);
    const seen = await walk('?limit=5', asUser('ida'), async () => {
      const [extra] = await make('ida', 2);
      await call(service, `DELETE /media/${extra}`, { headers: asUser('ida') });
    });
    expect(seen).toEqual([...before].reverse());
    expect(await walk('?limit=7&sort=created_at', asUser('ida'))).toEqual(
      [...(await walk('?limit=200', asUser('ida')))].reverse(),
    );
  });

  test('continues when the asset at the cursor was deleted', async () => {
    const ids = (await make('tom', 4)).reverse();
    const first = await pageOf('?limit=2', asUser('tom'));
    await call(service, `DELETE /media/${ids[1]}`, { headers: asUser('tom') });
    expect(idsOf(await pageOf(`?limit=2&cursor=${first.next_cursor}`, asUser('tom')))).toEqual(ids.slice(2));
  });

  test('works with any page length', async () => {
    const ids = (await make('uma', 9)).reverse();
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 9, maxLength: 9 }),
        async (limits) => {
          const seen: string[] = [];
          for (let cursor: string | null = '', at = 0; cursor !== null; at++) {
            const page: Page = await pageOf(
              `?limit=${limits[at]}${cursor && `&cursor=${cursor}`}`,
              asUser('uma'),
            );
            seen.push(...idsOf(page));
            cursor = page.next_cursor;
          }
          expect(seen).toEqual(ids);
        },
      ),
      { numRuns: 10 },
    );
  });
});

describe('the owner', () => {
  test('is the user, whatever owner_user_id the query has', async () => {
    const [mine] = await make('zoe', 1);
    await make('eve', 2);
    for (const query of [
      '',
      '?owner_user_id=eve',
      '?OWNER_USER_ID=eve',
      '?user_id=eve',
      '?owner_user_id[]=eve',
    ]) {
      expect(idsOf(await pageOf(query, asUser('zoe'))), query).toEqual([mine]);
    }
    expectFieldRefused(await ask('?owner_user_id=eve&owner_user_id=ann', asUser('zoe')), 'owner_user_id');
  });

  test('is named in the query by a service caller', async () => {
    const ids = await make('ben', 2);
    expect(idsOf(await pageOf('?owner_user_id=ben', asService))).toEqual([...ids].reverse());
    for (const query of [
      '',
      '?owner_user_id=',
      '?owner_user_id=%20',
      '?owner_user_id=ben&owner_user_id=eve',
      `?owner_user_id=${'x'.repeat(256)}`,
      '?owner_user_id=a%00',
    ]) {
      expectFieldRefused(await ask(query, asService), 'owner_user_id');
    }
    const inBody = await call(service, 'POST /media', { headers: asService, json: { owner_user_id: 'ben' } });
    expectRefusal(inBody, 404);
  });

  test('may have an id in any script', async () => {
    const [id] = await make('Zoë & Co = 100% 🎬', 1);
    expect(
      idsOf(await pageOf(`?owner_user_id=${encodeURIComponent('Zoë & Co = 100% 🎬')}`, asService)),
    ).toEqual([id]);
  });
});

describe('a cursor', () => {
  test('is valid for its owner only', async () => {
    await make('kim', 3);
    await make('kimi', 3);
    const { next_cursor: cursor } = await pageOf('?limit=1', asUser('kim'));
    expect((await pageOf(`?owner_user_id=kim&cursor=${cursor}`, asService)).items).toHaveLength(2);
    expectFieldRefused(await ask(`?cursor=${cursor}`, asUser('kimi')), 'cursor');
    expectFieldRefused(await ask(`?owner_user_id=kimi&cursor=${cursor}`, asService), 'cursor');
  });

  test('is valid for its filters and sort only', async () => {
    const ids = await make('liv', 4);
    const { next_cursor: cursor } = await pageOf('?limit=1&kind=video', asUser('liv'));
    const repeat = `?kind=video&cursor=${cursor}`;
    expect(idsOf(await pageOf(`${repeat}&limit=2&count=true&nothing=1`, asUser('liv')))).toEqual(
      ids.slice(1, 3).reverse(),
    );
    for (const other of ['&tag=a', '&stream_status=ready', '&sort=created_at', '&deleted=true'])
      expect(expectRefusal(await ask(`${repeat}${other}`, asUser('liv')), 400).message).toMatch(
        /^Invalid cursor/,
      );
    expectFieldRefused(await ask(`?cursor=${cursor}`, asUser('liv')), 'cursor');
  });

  test('that was modified is rejected', async () => {
    await make('lou', 2);
    const { next_cursor: cursor } = (await pageOf('?limit=1', asUser('lou'))) as { next_cursor: string };
    const flipped = (at: number) =>
      `${cursor.slice(0, at)}${cursor[at] === 'A' ? 'B' : 'A'}${cursor.slice(at + 1)}`;
    const readable = Buffer.from('0199aaaa-0000-7000-8000-000000000000:lou').toString('base64url');
    for (const bad of [
      '',
      'x',
      '0199aaaa-0000-7000-8000-000000000000',
      readable,
      cursor.slice(1),
      `${cursor}A`,
      flipped(0),
      flipped(30),
      flipped(cursor.length - 1),
      cursor.toUpperCase(),
      `${cursor}%00`,
      '%27%20or%201=1',
    ]) {
      expectFieldRefused(await ask(`?cursor=${bad}`, asUser('lou')), 'cursor');
    }
  });
});

test.each([
  'limit=1&limit=2',
  'cursor=a&cursor=b',
  'kind=image&kind=video',
  'sort=created_at&sort=created_at',
  'count=true&count=false',
])('a repeated parameter is rejected (%s)', async (query) => {
  expectFieldRefused(await ask(`?${query}`, asUser('ann')), query.slice(0, query.indexOf('=')));
});

test('an unknown parameter is ignored', async () => {
  expect((await ask('?nonsense=1&nonsense=2&=&&%5B%5D=x&__proto__=y', asUser('ann'))).status).toBe(200);
});

describe('status', () => {
  test('is an alias of stream_status', async () => {
    const [id = ''] = await make('stu', 1);
    for (const query of ['status=pending_upload', 'status=pending_upload&stream_status=pending_upload'])
      expect(idsOf(await pageOf(`?${query}`, asUser('stu')))).toEqual([id]);
    expect(idsOf(await pageOf('?status=ready', asUser('stu')))).toEqual([]);
  });

  test('that contradicts stream_status is rejected', async () => {
    expectFieldRefused(await ask('?status=ready&stream_status=failed', asUser('stu')), 'status');
    expectFieldRefused(await ask('?status=done', asUser('stu')), 'status');
  });
});
