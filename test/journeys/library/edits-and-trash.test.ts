// Callers edit assets, move them to the trash, restore them, and retry failed ones.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type AssetJson, IMAGE, openUpload, VIDEO } from '../../support/media.ts';
import { asService, asUser, call, startTestService, type TestService } from '../../support/service.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service.stop());

const ann = asUser('ann');
const patch = (id: string, json: object, headers: Record<string, string> = {}) =>
  call<AssetJson>(service, `PATCH /media/${id}`, { headers: { ...ann, ...headers }, json });
const get = (id: string) => call<AssetJson>(service, `GET /media/${id}`, { headers: ann });

test('PATCH changes the named members only, and raises the version', async () => {
  const { asset_id: id } = await openUpload(service, 'ann', {
    title: 'One',
    tags: ['a'],
    metadata: { shelf: 7 },
  });
  const edited = await patch(id, { title: 'Two', owner_user_id: 'bob' });
  expect(edited).toMatchObject({
    status: 200,
    body: {
      data: {
        title: 'Two',
        tags: ['a'],
        metadata: { shelf: 7 },
        version: 2,
        stream_status: 'pending_upload',
        owner_user_id: 'ann',
      },
    },
  });
  expect((await patch(id, { title: null, tags: [], metadata: null })).body.data).toMatchObject({
    title: null,
    tags: [],
    metadata: null,
    version: 3,
  });
});

test('PATCH rejects unknown members and names them', async () => {
  const { asset_id: id } = await openUpload(service, 'ann');
  expect((await patch(id, { title: 'Two', stream_status: 'ready' })).body).toMatchObject({
    code: 400,
    message: expect.stringContaining('"stream_status"'),
    error: { details: { field: 'stream_status', reason: 'unknown_member' } },
  });
});

test('If-Match accepts an edit of the named version only', async () => {
  const { asset_id: id } = await openUpload(service, 'ann');
  expect((await patch(id, { title: 'a' }, { 'if-match': '"7"' })).body).toMatchObject({
    code: 412,
    error: { error_code: 'PRECONDITION_FAILED', details: { version: 1 } },
  });
  expect((await patch(id, { title: 'a' }, { 'if-match': '"1"' })).status).toBe(200);
  expect((await patch(id, { title: 'b' }, { 'if-match': '"1"' })).status).toBe(412);
  expect(
    (await call(service, `DELETE /media/${id}`, { headers: { ...ann, 'if-match': '"1"' } })).status,
  ).toBe(412);
  expect((await patch(id, { title: 'b' }, { 'if-match': '*' })).body.data['version']).toBe(3);
});

test('If-Match accepts the ETag too, until anything changes', async () => {
  const { asset_id: id } = await openUpload(service, 'ann');
  const etagNow = async () =>
    String((await fetch(`${service.url}/media/${id}`, { headers: ann })).headers.get('etag'));
  const etag = await etagNow();
  expect((await patch(id, { title: 'a' }, { 'if-match': etag })).status).toBe(200);
  expect((await patch(id, { title: 'b' }, { 'if-match': etag })).status).toBe(412);
  const remove = (ifMatch: string) =>
    call(service, `DELETE /media/${id}?trash=true`, { headers: { ...ann, 'if-match': ifMatch } });
  expect((await remove(etag)).status).toBe(412);
  expect((await remove(`W/${await etagNow()}`)).status).toBe(200);
});

test('purge=false means trash=true, and both at once must not contradict', async () => {
  const { asset_id: id } = await openUpload(service, 'ann');
  const remove = (query: string) => call(service, `DELETE /media/${id}?${query}`, { headers: ann });
  expect((await remove('trash=true&purge=true')).body.error.details).toMatchObject({ field: 'purge' });
  expect((await remove('purge=false')).status).toBe(200);
  expect((await remove('trash=true&purge=false')).status).toBe(200);
  expect((await call(service, `POST /media/${id}/restore`, { headers: ann })).status).toBe(200);
  expect((await remove('trash=false')).status).toBe(200);
  expect((await call(service, `POST /media/${id}/restore`, { headers: ann })).status).toBe(404);
});

test.each([
  ['a title that is too long', { title: 'x'.repeat(501) }, 'title'],
  ['too many tags', { tags: Array.from({ length: 51 }, String) }, 'tags'],
  ['metadata that is too large', { metadata: { a: 'x'.repeat(17_000) } }, 'metadata'],
  ['a NUL in a tag', { tags: ['a\0'] }, 'tags'],
  ['another visibility', { visibility: 'secret' }, 'visibility'],
])('PATCH rejects %s and names the field', async (_what, json, field) => {
  const { asset_id: id } = await openUpload(service, 'ann');
  const answer = await patch(id, json);
  expect(answer.status).toBe(400);
  expect(String(answer.body.error.details?.['field'])).toContain(field);
  expect((await get(id)).body.data['version']).toBe(1);
});

test('an ETag changes with every change, and a matching one gets 304', async () => {
  const { asset_id: id } = await openUpload(service, 'ann');
  const etag = (await get(id)).headers.get('etag') ?? '';
  const ask = () => fetch(`${service.url}/media/${id}`, { headers: { ...ann, 'if-none-match': etag } });
  const same = await ask();
  expect([same.status, await same.text()]).toEqual([304, '']);
  await patch(id, { title: 'changed' });
  expect((await ask()).status).toBe(200);
});

test('an asset in the trash is 404, is listed as deleted, and can be restored', async () => {
  const { asset_id: id } = await openUpload(service, 'eve', { title: 'Kept' });
  const eve = asUser('eve');
  expect((await call(service, `DELETE /media/${id}?trash=true`, { headers: eve })).body.data).toEqual({
    id,
    deleted: true,
  });
  expect((await call(service, `GET /media/${id}`, { headers: eve })).status).toBe(404);
  const list = async (query = '') =>
    (await call<{ items: AssetJson[] }>(service, `GET /media${query}`, { headers: eve })).body.data.items.map(
      (asset) => asset.id,
    );
  expect([await list(), await list('?deleted=true')]).toEqual([[], [id]]);
  expect((await call(service, `POST /media/${id}/restore`, { headers: asUser('bob') })).status).toBe(403);
  expect(
    (await call<AssetJson>(service, `POST /media/${id}/restore`, { headers: eve })).body.data,
  ).toMatchObject({ id, title: 'Kept', deleted_at: null });
  expect([await list(), await list('?deleted=true')]).toEqual([[id], []]);
});

test('a repeated DELETE with trash=true changes nothing, and the asset can still be restored', async () => {
  const { asset_id: id } = await openUpload(service, 'ann', { title: 'Kept' });
  const remove = () => call(service, `DELETE /media/${id}?trash=true`, { headers: ann });
  const inTrash = async () =>
    (
      await call<{ items: AssetJson[] }>(service, 'GET /media?deleted=true', { headers: ann })
    ).body.data.items.find((asset) => asset.id === id);
  const first = await remove();
  const before = await inTrash();
  const again = await remove();
  expect([first.status, again.status]).toEqual([200, 200]);
  expect(again.body.data).toEqual(first.body.data);
  expect(await inTrash()).toEqual(before);
  expect((await call(service, `POST /media/${id}/restore`, { headers: ann })).body.data).toMatchObject({
    id,
    title: 'Kept',
    deleted_at: null,
  });
});

test('DELETE without trash=true deletes permanently, also from the trash', async () => {
  const { asset_id: id } = await openUpload(service, 'ann');
  const removal = (query = '') => call(service, `DELETE /media/${id}${query}`, { headers: ann });
  expect([(await removal('?trash=true')).status, (await removal()).status, (await removal()).status]).toEqual(
    [200, 200, 404],
  );
  expect((await call(service, `POST /media/${id}/restore`, { headers: ann })).status).toBe(404);
});

test('the list can be filtered, sorted and counted', async () => {
  const dan = asUser('dan');
  const made = [];
  for (const fields of [
    { ...VIDEO, title: 'Summer 100%', tags: ['a', 'b'] },
    { ...IMAGE, filename: 'winter_1.png', tags: ['b'] },
    { ...VIDEO, filename: 'spring.mp4' },
  ])
    made.push((await openUpload(service, 'dan', fields)).asset_id);
  const [summer, winter, spring] = made as [string, string, string];
  const ids = async (query: string) =>
    (
      await call<{ items: AssetJson[] }>(service, `GET /media?${query}`, { headers: dan })
    ).body.data.items.map((asset) => asset.id);
  expect(await ids('')).toEqual([spring, winter, summer]);
  expect(await ids('sort=created_at')).toEqual([summer, winter, spring]);
  expect(await ids('kind=image')).toEqual([winter]);
  expect(await ids('provider=onprem&tag=b')).toEqual([summer]);
  expect(await ids('q=SUMMER')).toEqual([summer]);
  expect(await ids(`q=${encodeURIComponent('100%')}`)).toEqual([summer]);
  expect(await ids('q=r_1')).toEqual([winter]);
  expect(await ids(`q=${encodeURIComponent('100% clip')}`), 'half in the title, half in the name').toEqual(
    [],
  );
  expect(await ids('stream_status=ready')).toEqual([]);
  expect(await ids('created_after=2100-01-01T00:00:00Z')).toEqual([]);
  expect(await ids('created_before=2100-01-01')).toHaveLength(3);
  const counted = await call(service, 'GET /media?count=true&limit=1&kind=video', { headers: dan });
  expect(counted.body.data).toMatchObject({ total: 2, next_cursor: expect.any(String) });
  expect(
    (await call(service, 'GET /media?created_after=yesterday', { headers: dan })).body.error.details,
  ).toMatchObject({ field: 'created_after', reason: 'invalid_value' });
});

test('a repeated Idempotency-Key gets the first response, another body gets 409', async () => {
  const open = (json: object, key = 'key-1', headers: Record<string, string> = ann) =>
    call(service, 'POST /media/upload-url?expand=asset', {
      headers: { ...headers, 'idempotency-key': key },
      json,
    });
  const first = await open(VIDEO);
  const again = await open(VIDEO);
  expect(again.body.data).toEqual(first.body.data);
  expect([first.headers.get('idempotency-replayed'), again.headers.get('idempotency-replayed')]).toEqual([
    null,
    'true',
  ]);
  expect((await open({ ...VIDEO, filename: 'other.mp4' })).body).toMatchObject({
    code: 409,
    error: { details: { reason: 'idempotency_key_reused' } },
  });
  expect((await open(VIDEO, 'key-2')).body.data['asset_id']).not.toBe(first.body.data['asset_id']);
  expect((await open({ ...VIDEO, owner_user_id: 'ann' }, 'key-1', asService)).body.data['asset_id']).not.toBe(
    first.body.data['asset_id'],
  );
  const many = await Promise.all(Array.from({ length: 8 }, () => open(VIDEO, 'key-3')));
  expect(
    new Set(many.filter(({ status }) => status === 200).map(({ body }) => body.data['asset_id'])).size,
  ).toBe(1);
  expect(many.every(({ status }) => status === 200 || status === 409)).toBe(true);
  expect((await open(VIDEO, 'ä')).status).toBe(400);
});

test('retry opens a new attempt only after a failure', async () => {
  const { asset_id: id } = await openUpload(service, 'ann');
  expect((await call(service, `POST /media/${id}/retry?expand=asset`, { headers: ann })).body).toMatchObject({
    code: 409,
    error: { details: { reason: 'wrong_status' } },
  });
});
