// The timeline of an asset lists its events with sentences and latencies.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { expectSuccess } from '../../support/http/envelope.ts';
import { openUpload, putBytes } from '../../support/media.ts';
import { asOperator, asService, asUser, call, eventually, type TestService } from '../../support/service.ts';
import { startTimelineFilm, type TimelineFilm } from '../../support/clips/timeline-film.ts';
import { rows } from '../../support/service/traces.ts';
import { deliveriesOf, tell } from '../../support/providers/webhooks.ts';

type Entry = {
  id: string;
  at: string;
  type: string;
  source: string;
  attempt: number | null;
  latency_ms: number | null;
  sentence: string;
  details: Record<string, unknown>;
};
type Page = { items: Entry[]; next_cursor: string | null };

let film: TimelineFilm;
let service: TestService;
const as = asUser('ann');
const minutesAfterStart = (minutes: number) => new Date(film.start + minutes * 60_000).toISOString();
const read = async (id: string, query = ''): Promise<Page> =>
  expectSuccess(await call(service, `GET /media/${id}/timeline${query}`, { headers: as })) as Page;
beforeAll(async () => {
  film = await startTimelineFilm();
  service = film.service;
});
afterAll(() => service?.stop());

/** How many reports of progress a short film causes depends on the machine. */
const withoutProgress = (items: readonly Entry[]) => items.filter(({ type }) => type !== 'asset.progress');

describe('the timeline of a video', () => {
  test('lists events in order, with source, attempt and latency', async () => {
    const { items, next_cursor } = await read(film.id);
    const minute = 60_000;
    expect(next_cursor).toBeNull();
    const milestones = withoutProgress(items);
    expect(
      milestones.map(({ type, source, attempt, latency_ms }) => [type, source, attempt, latency_ms]),
    ).toEqual([
      ['asset.created', 'caller', null, null],
      ['asset.uploaded', 'caller', null, minute],
      ['asset.updated', 'caller', null, minute],
      ['asset.processing', 'caller', 1, minute],
      ['asset.playable', 'webhook', 1, 0],
      ['asset.ready', 'webhook', 1, 0],
      ['asset.deleted', 'caller', null, minute],
      ['asset.restored', 'caller', null, minute],
      ['asset.failed', 'webhook', 2, minute],
      ['asset.processing', 'caller', 3, minute],
      ['asset.ready', 'webhook', 3, 0],
    ]);
    expect(milestones.map(({ at }) => at)).toEqual([0, 1, 2, 3, 3, 3, 4, 5, 6, 7, 7].map(minutesAfterStart));
  });

  test('has a sentence for each event', async () => {
    const { items } = await read(film.id);
    expect(withoutProgress(items).map(({ sentence }) => sentence)).toEqual([
      'The caller created the asset.',
      'All bytes are stored.',
      'The caller changed title, tags.',
      `The caller completed the upload; processing started. Next check at ${minutesAfterStart(3 + 2)}.`,
      'Playback is available.',
      'The provider reported that the asset is ready.',
      'The caller moved the asset to the trash.',
      'The caller restored the asset from the trash.',
      'The provider reported a failure (attempt 2): no_sound.',
      `The caller retried the asset; processing started again (attempt 3). ` +
        `Next check at ${minutesAfterStart(7 + 2)}.`,
      'The provider reported that the asset is ready (attempt 3).',
    ]);
  });

  test.each([1, 2, 3, 10, 11])('is the same in pages of %d, with latencies across pages', async (limit) => {
    const whole = (await read(film.id)).items;
    const pages: Entry[][] = [];
    for (let cursor: string | null = ''; cursor !== null; ) {
      const page: Page = await read(film.id, `?limit=${limit}${cursor && `&cursor=${cursor}`}`);
      pages.push(page.items);
      cursor = page.next_cursor;
    }
    expect(pages.flat()).toEqual(whole);
    expect(pages).toHaveLength(Math.ceil(whole.length / limit));
    expect((await read(film.id, `?cursor=${whole[4]?.id.toUpperCase()}`)).items).toEqual(whole.slice(5));
  });

  test('has no entry after the last one', async () => {
    const last = (await read(film.id)).items.at(-1);
    expect(await read(film.id, `?cursor=${last?.id}`)).toEqual({ items: [], next_cursor: null });
  });
});

test('entries are in the order of the changes, even if the clocks of processes differ', async () => {
  const { asset_id: id } = await openUpload(service, 'ann');
  for (const title of ['one', 'two'])
    await call(service, `PATCH /media/${id}`, { headers: as, json: { title } });
  const before = (await read(id)).items;
  await rows(
    service.dataDir,
    "update events set id = first_id_of(created_at - interval '1 hour') where asset_id = $1 and revision = 3",
    [id],
  );
  const { items } = await read(id);
  expect(items.map(({ details }) => details)).toEqual(before.map(({ details }) => details));
  expect(String(items[2]?.id) < String(items[1]?.id)).toBe(true);
  expect((await read(id, `?cursor=${items[1]?.id}`)).items).toEqual([items[2]]);
});

test('entries name the reconcile job and the operator as their sources', async () => {
  const { asset_id: id } = await openUpload(service, 'ann');
  await tell(service, 'onprem', { asset_id: id, status: 'processing' });
  await tell(service, 'onprem', { asset_id: id, status: 'failed', failure: { code: 'no_sound' } });
  await tell(service, 'onprem', { asset_id: id, status: 'processing', attempt: 2 });
  film.later(10);
  await service.adapters.db.transaction((tx) => service.adapters.jobs.send(tx, 'reconcile', {}));
  const {
    items: [checked],
  } = await eventually(
    async () => ({ items: (await read(id)).items.filter(({ source }) => source === 'reconcile') }),
    ({ items }) => items.length > 0,
  );
  expect(checked).toMatchObject({
    type: 'asset.checked',
    attempt: 2,
    latency_ms: 600_000,
    details: { reason: 'encoder_outside', next_check_at: expect.any(String) },
  });
  expect(checked?.sentence).toMatch(
    /^Processing takes longer than expected; an external encoder has the video.* Next check at 20\S+Z\.$/,
  );
  await tell(service, 'onprem', { asset_id: id, status: 'ready', attempt: 2 });
  await rows(
    service.dataDir,
    `update assets set stream_status = 'processing', ready_at = null where id = $1`,
    [id],
  );
  const ready = (await deliveriesOf(service, id)).at(-1)?.id;
  expectSuccess(
    await call(service, 'POST /admin/deliveries/replay', {
      headers: asOperator,
      json: { id: ready, dry_run: false },
    }),
  );
  expect((await read(id)).items.at(-1)).toMatchObject({
    type: 'asset.ready',
    source: 'replay',
    sentence: 'A delivery replayed by an operator reported that the asset is ready (attempt 2).',
  });
});

test('entries show rejections by the service, and that a service caller named another owner', async () => {
  const started = await openUpload(service, 'ann');
  await putBytes(started, Buffer.from('no film at all'));
  const named = await call(service, `PATCH /media/${started.asset_id}`, {
    headers: asService,
    json: { title: 'x', owner_user_id: 'somebody' },
  });
  expect(named.status).toBe(200);
  await call(service, `POST /media/${started.asset_id}/complete`, { headers: as });
  const [edited, refused] = (await read(started.asset_id)).items.slice(-2);
  expect(edited).toMatchObject({
    type: 'asset.updated',
    source: 'caller',
    sentence: 'The caller changed title. The caller used the service key and named another owner.',
    details: { caller: 'service', named_other_owner: true },
  });
  expect(JSON.stringify(await read(started.asset_id))).not.toContain('somebody');
  expect(refused).toMatchObject({
    type: 'asset.failed',
    source: 'service',
    sentence: 'The service rejected the asset: type_mismatch.',
    details: { code: 'type_mismatch' },
  });
});
