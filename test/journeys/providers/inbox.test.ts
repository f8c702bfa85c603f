// Operators list, filter and read webhook deliveries (contract B6).
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { columns, sql } from '../../../service/src/platform/postgres/sql.ts';
import { uuidV7 } from '../../../service/src/platform/values/uuid-v7.ts';
import { deliveryRow } from '../../../service/src/tables-rows.ts';
import { expectFieldRefused, expectRefusal, expectSuccess } from '../../support/http/envelope.ts';
import { openUpload } from '../../support/media.ts';
import { asOperator, call, startTestService, type TestService } from '../../support/service.ts';
import { deliver, LIBRARY, linkVideo, READY, signatureOf, tell } from '../../support/providers/webhooks.ts';

type Listed = {
  id: string;
  provider: string;
  provider_video_id: string | null;
  asset_id: string | null;
  processed: boolean;
  reason: string;
  created_at: string;
  latency_ms: number;
};
type Whole = Listed & { headers: Record<string, string>; body: string | null; body_base64: string };
type Page = { items: Listed[]; next_cursor: string | null };

const PARKED = 'ünknown video';
const LINKED = randomUUID();

let service: TestService;
/** Oldest first, by what each is. */
const KINDS = ['parked', 'begun', 'again', 'ready', 'elsewhere', 'nothing'] as const;
const deliveries = {} as Record<(typeof KINDS)[number], Listed>;

const get = async <T = Page>(path: string): Promise<T> =>
  expectSuccess(await call(service, `GET /admin/deliveries${path}`, { headers: asOperator })) as T;

beforeAll(async () => {
  service = await startTestService({ MEDIARY_ROLE: 'api', CDNHOST_STREAM_LIBRARY_ID: String(LIBRARY) });
  await linkVideo(service, { provider: 'edgehost', provider_video_id: LINKED });
  const { asset_id: id } = await openUpload(service, 'ann');
  await tell(service, 'cdnhost', READY.cdnhost(PARKED));
  for (let time = 0; time < 2; time++)
    await tell(service, 'onprem', { asset_id: id, status: 'processing', progress: 10 });
  await tell(service, 'edgehost', READY.edgehost(LINKED));
  await tell(service, 'cdnhost', { VideoLibraryId: LIBRARY + 1, VideoGuid: LINKED, Status: 3 });
  await tell(service, 'onprem', []);
  const { items } = await get('');
  KINDS.forEach((kind, index) => {
    deliveries[kind] = items.at(-1 - index) as Listed;
  });
});
afterAll(() => service?.stop());

type Kind = (typeof KINDS)[number];
const idsOf = (...kinds: Kind[]) => kinds.map((kind) => deliveries[kind].id);
const found = async (query: string) => (await get(`?${query}`)).items.map(({ id }) => id);

describe('the list of deliveries', () => {
  test('contains every delivery, newest first, with its result', async () => {
    const { items, next_cursor } = await get('');
    expect(next_cursor).toBeNull();
    const asset = deliveries.begun.asset_id;
    expect(items.map(({ created_at }) => Date.parse(created_at) > 0)).not.toContain(false);
    expect(items.map(({ latency_ms }) => latency_ms >= 0)).not.toContain(false);
    expect(
      items
        .toReversed()
        .map((item) => [item.provider, item.provider_video_id, item.asset_id, item.processed, item.reason]),
    ).toEqual([
      ['cdnhost', PARKED, null, false, 'parked'],
      ['onprem', null, asset, true, 'applied'],
      ['onprem', null, asset, true, 'repeat'],
      ['edgehost', LINKED, expect.any(String), true, 'applied'],
      ['cdnhost', null, null, false, 'wrong_library'],
      ['onprem', null, null, false, 'not_actionable'],
    ]);
  });

  const FILTERS: readonly (readonly [of: string, query: () => string, kinds: readonly Kind[]])[] = [
    ['a provider', () => 'provider=cdnhost', ['elsewhere', 'parked']],
    ['an asset', () => `asset_id=${deliveries.begun.asset_id}`, ['again', 'begun']],
    [
      'an asset, in capitals',
      () => `asset_id=${deliveries.begun.asset_id?.toUpperCase()}`,
      ['again', 'begun'],
    ],
    ['an asset that is none', () => `asset_id=${randomUUID()}`, []],
    ["a provider's video", () => `provider_video_id=${encodeURIComponent(PARKED)}`, ['parked']],
    ['what was processed', () => 'processed=true', ['ready', 'again', 'begun']],
    ['what was not', () => 'processed=false', ['nothing', 'elsewhere', 'parked']],
    ['a reason', () => 'reason=applied', ['ready', 'begun']],
    ['a reason that is none', () => 'reason=because', []],
    ['what came after a moment', () => `created_after=${deliveries.elsewhere.created_at}`, ['nothing']],
    ['before a moment', () => `created_before=${deliveries.again.created_at}`, ['begun', 'parked']],
    [
      'a range',
      () => `created_after=${deliveries.begun.created_at}&created_before=${deliveries.ready.created_at}`,
      ['again'],
    ],
    ['several at once', () => 'provider=onprem&processed=true&reason=repeat', ['again']],
    [
      'everything at once',
      () =>
        `provider=edgehost&asset_id=${deliveries.ready.asset_id}&provider_video_id=${LINKED}` +
        '&processed=true&reason=applied&created_after=2020-01-01&created_before=9999-01-01T00:00Z&limit=1',
      ['ready'],
    ],
  ];
  test.each(FILTERS)('can be filtered by %s', async (_, query, kinds) => {
    expect(await found(query())).toEqual(idsOf(...kinds));
  });

  test.each(['', 'processed=true&'])('has pages without gaps or duplicates (%s)', async (filter) => {
    const all = await found(filter);
    const pages: string[][] = [];
    for (let cursor: string | null = ''; cursor !== null; ) {
      const page: Page = await get(`?${filter}limit=2${cursor && `&cursor=${cursor}`}`);
      pages.push(page.items.map(({ id }) => id));
      cursor = page.next_cursor;
    }
    expect(pages.flat()).toEqual(all);
    expect(pages.map(({ length }) => length)).toEqual(
      Array.from({ length: Math.ceil(all.length / 2) }, (_, page) => Math.min(2, all.length - 2 * page)),
    );
  });

  test.each([
    ['limit', '0'],
    ['limit', '201'],
    ['limit', '1.5'],
    ['limit', 'all'],
    ['cursor', 'x'],
    ['cursor', ''],
    ['provider', 'nobody'],
    ['provider', ''],
    ['asset_id', 'x'],
    ['asset_id', ''],
    ['processed', 'yes'],
    ['created_after', 'yesterday'],
    ['created_after', '1'],
    ['created_before', '2026-13-01'],
    ['created_before', ''],
    ['created_before', '2026-01-01T00:00:00'],
    ['reason', '%00'],
    ['provider_video_id', 'a%00b'],
  ])('rejects an invalid parameter and names it: %s=%s', async (field, value) => {
    expectFieldRefused(
      await call(service, `GET /admin/deliveries?${field}=${value}`, { headers: asOperator }),
      field,
    );
  });
});

describe('one delivery', () => {
  test('contains the raw bytes; its id may be in either case', async () => {
    const { id } = deliveries.parked;
    const found = await get<Whole>(`/${id}`);
    const body = JSON.stringify(READY.cdnhost(PARKED));
    expect(found).toEqual({
      ...deliveries.parked,
      headers: expect.anything(),
      body,
      body_base64: Buffer.from(body).toString('base64'),
    });
    expect(await get<Whole>(`/${id.toUpperCase()}`)).toEqual(found);
  });

  test('contains useful headers and no secrets', async () => {
    const body = `{"canary":"${randomUUID()}"}`;
    const secrets = {
      authorization: 'Bearer canary',
      cookie: 'a=canary',
      'x-service-key': 'canary',
      'x-api-key': 'canary',
      ...signatureOf('onprem', body),
    };
    await deliver(service, 'onprem', {
      body,
      headers: {
        'content-type': 'text/x-words',
        'user-agent': 'encoder/7',
        'x-forwarded-for': '192.0.2.7',
        'x-request-id': 'r-7',
        ...secrets,
      },
    });
    const [newest] = (await get('?limit=1')).items;
    const found = await get<Whole>(`/${newest?.id}`);
    expect(found.body).toBe(body);
    expect(found.headers).toEqual({
      'content-type': 'text/x-words',
      'content-length': String(body.length),
      'user-agent': 'encoder/7',
      'x-forwarded-for': '192.0.2.7',
      'x-request-id': 'r-7',
    });
  });

  test.each([
    ['no UTF-8', '00ff80c3', null],
    ['half a character', '22eda08022', null],
    ['nothing', '', ''],
    ['a byte order mark', 'efbbbf7b7d', '\ufeff{}'],
  ])('of %s has its body in base64, and as text if it is UTF-8', async (_, hex, text) => {
    const [id, bytes] = [uuidV7(), Buffer.from(hex, 'hex')];
    await service.adapters.db.all(sql(`insert ${hex}`)`
      insert into deliveries (${columns(deliveryRow)})
      values (${id}, 'onprem', null, null, ${bytes}, '{}', false, 'not_actionable', now(), false, 1)`);
    expect(await get<Whole>(`/${id}`)).toMatchObject({ body: text, body_base64: bytes.toString('base64') });
  });

  test.each([randomUUID(), 'x', '%00', `${randomUUID()}0`])('that does not exist is 404: %s', async (id) => {
    expectRefusal(await call(service, `GET /admin/deliveries/${id}`, { headers: asOperator }), 404);
    expectRefusal(
      await call(service, 'POST /admin/deliveries/replay', {
        headers: asOperator,
        json: { id: decodeURIComponent(id) },
      }),
      404,
    );
  });
});
