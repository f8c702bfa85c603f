// Assets that expire: they stop playing at that moment, and a job deletes them for good (contract B1, B2).
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { makeClip } from '../../support/clips/clips.ts';
import { expectFieldRefused, expectRefusal, expectSuccess } from '../../support/http/envelope.ts';
import { type AssetJson, IMAGE, ingest, openUpload, putBytes, VIDEO } from '../../support/media.ts';
import { asOperator, asUser, call, eventually } from '../../support/service.ts';
import { type ClockedService, startClockedService } from '../../support/service/clocked-service.ts';
import { filesNaming, rows } from '../../support/service/traces.ts';

type Playback = { readonly hls: string; readonly expires_at: string };

const MINUTE_MS = 60_000;
const ann = asUser('ann');

let clock: ClockedService;
let clip: string;
beforeAll(async () => {
  clock = await startClockedService();
  clip = await makeClip({ seconds: 1 });
});
afterAll(() => clock?.service.stop());

const at = (minutes: number) => new Date(clock.now() + minutes * MINUTE_MS).toISOString();
const request = <T = AssetJson>(line: string, json?: object, headers: Record<string, string> = ann) =>
  call<T>(clock.service, line, { headers, ...(json && { json }) });
const patch = (id: string, json: object) => request(`PATCH /media/${id}`, json);
const open = async (fields: object): Promise<string> =>
  (await openUpload(clock.service, 'ann', { ...IMAGE, ...fields })).asset_id;
const deletionsOf = async (id: string) =>
  (
    await rows(
      clock.service.dataDir,
      "select data from events where asset_id = $1 and type = 'asset.deleted' order by revision",
      [id],
    )
  ).map(({ data }) => data);
const EXPIRED = { source: 'service', reason: 'expired', restorable: false };

describe('the time', () => {
  test('is set at creation, changed and removed by PATCH, and shown in the asset', async () => {
    const first = at(60);
    const { asset } = await openUpload(clock.service, 'ann', { expires_at: first });
    expect(asset).toMatchObject({ expires_at: first });
    const later = '2090-06-01T12:00:00+02:00';
    expect(expectSuccess(await patch(asset.id, { expires_at: later }))).toMatchObject({
      expires_at: '2090-06-01T10:00:00.000Z',
      version: 2,
    });
    expect(expectSuccess(await patch(asset.id, { title: 'kept' }))).toMatchObject({
      expires_at: '2090-06-01T10:00:00.000Z',
    });
    expect(expectSuccess(await patch(asset.id, { expires_at: null }))).toMatchObject({ expires_at: null });
  });

  test.each([
    ['in the past', () => at(-1), 'below_minimum'],
    ['more than 100 years ahead', () => '2190-01-01T00:00:00Z', 'above_maximum'],
    ['without a zone', () => '2090-01-01T00:00:00', ''],
    ['a day that no month has', () => '2090-02-30T00:00:00Z', ''],
    ['a number', () => 4102444800, ''],
  ])('%s is refused, at creation and by PATCH', async (_what, time, reason) => {
    const id = await open({});
    const json = { expires_at: time() };
    const url = 'https://files.example.com/a.mp4';
    for (const answer of [
      await request('POST /media/upload-url', { ...VIDEO, ...json }),
      await request('POST /media/import', { ...VIDEO, url, ...json }),
      await patch(id, json),
    ])
      expect(JSON.stringify(expectRefusal(answer, 400).details)).toMatch(
        new RegExp(`"expires_at".*${reason}`),
      );
  });

  test('is a filter of lists, and a wrong filter is refused', async () => {
    const [soon, later] = [await open({ expires_at: at(30) }), await open({ expires_at: at(90) })];
    const list = async (line: string, headers?: Record<string, string>) =>
      (expectSuccess(await request(line, undefined, headers))['items'] as AssetJson[]).map(({ id }) => id);
    const query = `expires_before=${encodeURIComponent(at(45))}`;
    for (const ids of [
      await list(`GET /media?${query}`),
      await list(`GET /admin/media?${query}`, asOperator),
    ]) {
      expect(ids).toContain(soon);
      expect(ids).not.toContain(later);
    }
    expectFieldRefused(await request('GET /media?expires_before=soon'), 'expires_before');
  });
});

test('a video stops playing when it expires; its URLs, cookies and cached files end by then', async () => {
  const { service } = clock;
  const expires = at(10);
  const { id } = await ingest(service, 'ann', { file: clip, fields: { expires_at: expires } });
  const clipped = await request(`POST /media/${id}/clip`, { start_ms: 0, end_ms: 500, expires_at: expires });
  expect(expectSuccess(clipped)).toMatchObject({ expires_at: expires });
  const { hls, expires_at: end } = (await request<Playback>(`GET /media/${id}/playback`)).body.data;
  expect(Date.parse(end)).toBeLessThanOrEqual(Date.parse(expires));
  const cookie = (await request(`GET /media/${id}/playback?access=cookie`)).headers.get('set-cookie');
  expect(Number(/Max-Age=(\d+)/.exec(cookie ?? '')?.[1])).toBeLessThanOrEqual(600);
  const download = (await request<{ url: string; expires_at: string }>(`GET /media/${id}/download-url`)).body;
  expect(Date.parse(download.data.expires_at)).toBeLessThanOrEqual(Date.parse(expires));
  const segment = hls.replace('hls.m3u8', '1-1/r0-00001.m4s');
  const served = await fetch(segment);
  expect(served.status).toBe(200);
  await served.arrayBuffer();
  for (const [, age] of (served.headers.get('cache-control') ?? '').matchAll(/age=(\d+)/g))
    expect(Number(age)).toBeLessThanOrEqual(600);

  expectSuccess(await patch(id, { visibility: 'public' }));
  const publicHls = `${service.url}/playback/${id}/hls.m3u8`;
  expect((await fetch(publicHls)).status).toBe(200);
  // Moves the clock; the job that it sends is another one.
  await clock.runAfter(11, 'reconcile');
  for (const url of [publicHls, hls, segment, download.data.url]) {
    const { status, body } = await fetch(url);
    await body?.cancel();
    expect([401, 404], url).toContain(status);
  }
  for (const line of ['playback', 'download-url'])
    expectRefusal(await request(`GET /media/${id}/${line}`), 404);
  expectSuccess(await request(`GET /media/${id}`));
});

test('a job deletes it for good with its bytes, and once: it is not in the trash', async () => {
  const { service } = clock;
  const started = await openUpload(service, 'ann', { ...IMAGE, expires_at: at(5) });
  const id = started.asset_id;
  expectSuccess(await putBytes(started, Buffer.from('bytes that expire')));
  const kept = await openUpload(service, 'ann', { ...IMAGE, expires_at: at(60) });
  await clock.runAfter(6, 'expire-assets');
  await clock.runAfter(0, 'expire-assets');
  expectRefusal(await request(`GET /media/${id}`), 404);
  expectRefusal(await request(`POST /media/${id}/restore`), 404);
  expect(await deletionsOf(id)).toEqual([EXPIRED]);
  await eventually(
    () => filesNaming(service.dataDir, id),
    (files) => files.length === 0,
  );
  expect(await deletionsOf(kept.asset_id)).toEqual([]);
});

test('an asset in the trash expires too, and one whose time was removed or moved does not', async () => {
  const ids = await Promise.all([1, 2, 3].map(() => open({ expires_at: at(5) })));
  const [trashed = '', endless = '', longer = ''] = ids;
  expectSuccess(await request(`DELETE /media/${trashed}?trash=true`));
  expectSuccess(await patch(endless, { expires_at: null }));
  expectSuccess(await patch(longer, { expires_at: at(50) }));
  await clock.runAfter(6, 'expire-assets');
  expect((await deletionsOf(trashed)).at(-1)).toEqual(EXPIRED);
  expectRefusal(await request(`POST /media/${trashed}/restore`), 404);
  for (const id of [endless, longer]) expectSuccess(await request(`GET /media/${id}`));
});

test('a repeated upload gets the asset that expires at the same time, and no other', async () => {
  const bytes = await readFile(clip);
  const fields = { ...VIDEO, checksum_sha256: createHash('sha256').update(bytes).digest('hex') };
  const expires_at = at(300);
  const { id } = await ingest(clock.service, 'dan', { file: clip, fields: { ...fields, expires_at } });
  const repeat = async (more: object) =>
    expectSuccess(
      await request('POST /media/upload-url?deduplicate=true', { ...fields, ...more }, asUser('dan')),
    );
  expect(await repeat({ expires_at })).toMatchObject({ asset_id: id, is_existing: true });
  for (const more of [{}, { expires_at: at(400) }])
    expect(await repeat(more)).toMatchObject({ is_existing: false });
});
