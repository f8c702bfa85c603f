// Quotas of owners: reserved by new uploads, released by expiry, rejection and deletion, and never exceeded.
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { expectFieldRefused, expectRefusal, expectSuccess } from '../../support/http/envelope.ts';
import { complete, IMAGE, openUpload, putBytes, type Started, VIDEO } from '../../support/media.ts';
import {
  type Answer,
  asOperator,
  asService,
  asUser,
  call,
  eventually,
  startTestService,
  type TestService,
} from '../../support/service.ts';
import { usageDrift, usedBy } from '../../support/assets/usage.ts';
import { filesNaming, rows } from '../../support/service/traces.ts';

const LIMITS = { OWNER_MAX_BYTES: '1000', OWNER_MAX_ASSETS: '5', OWNER_MAX_PENDING: '3' };
const PNG = Buffer.concat([Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'), Buffer.alloc(592)]);

let service: TestService;
let offset = 0;
beforeAll(async () => {
  service = await startTestService(LIMITS, { now: () => new Date(Date.now() + offset) });
});
afterAll(() => service?.stop());

const ask = (owner: string, fields: object = {}) =>
  call<Started>(service, 'POST /media/upload-url?expand=asset', {
    headers: asUser(owner),
    json: { ...IMAGE, ...fields },
  });
const remove = async (owner: string, id: string, query = '') =>
  expectSuccess(await call(service, `DELETE /media/${id}${query}`, { headers: asUser(owner) }));

function expectOverQuota(answer: Answer<never> | Answer, numbers: object): void {
  const { error_code, details } = expectRefusal(answer, 400);
  expect(error_code).toBe('BAD_REQUEST');
  expect(details).toMatchObject({ reason: 'quota_exceeded', ...numbers });
}

describe('bytes', () => {
  test('are reserved when an upload is created, up to the limit exactly', async () => {
    await openUpload(service, 'bytes', { ...IMAGE, size_bytes: 600 });
    expectOverQuota(await ask('bytes', { size_bytes: 401 }), {
      field: 'bytes',
      limit: 1000,
      used: 600,
      requested: 401,
    });
    expectSuccess(await ask('bytes', { size_bytes: 400 }));
    expect(await usedBy(service, 'bytes')).toEqual([1000, 2, 2]);
  });

  test('of a rejected request are not reserved, and nothing of it is stored', async () => {
    expectOverQuota(await ask('refused', { size_bytes: 1001 }), {
      field: 'bytes',
      limit: 1000,
      used: 0,
      requested: 1001,
    });
    expect(await usedBy(service, 'refused')).toEqual([0, 0, 0]);
    const list = await call<{ items: [] }>(service, 'GET /media', { headers: asUser('refused') });
    expect(list.body.data.items).toEqual([]);
  });

  test('of an upload without size_bytes are checked on arrival; a smaller body is accepted', async () => {
    await openUpload(service, 'unannounced', { ...IMAGE, size_bytes: 500 });
    const started = await openUpload(service, 'unannounced', IMAGE);
    expectOverQuota(await putBytes(started, PNG), { field: 'bytes', limit: 1000, used: 500, requested: 600 });
    expect(await usedBy(service, 'unannounced')).toEqual([500, 2, 2]);
    expect(await filesNaming(join(service.dataDir, 'objects'), started.asset_id)).toEqual([]);
    expectSuccess(await putBytes(started, PNG.subarray(0, 500)));
    expect(await usedBy(service, 'unannounced')).toEqual([1000, 2, 2]);
  });

  test('of a chunked body are rejected at the limit', async () => {
    const started = await openUpload(service, 'chunked', IMAGE);
    async function* chunks() {
      for (let sent = 0; sent < 4; sent++) yield PNG;
    }
    const response = await fetch(
      started.upload_url as string,
      {
        method: 'PUT',
        headers: { 'content-type': 'image/png' },
        body: chunks(),
        duplex: 'half',
      } as RequestInit,
    );
    const { status, headers } = response;
    expectOverQuota(
      { status, headers, body: (await response.json()) as Answer['body'] },
      { field: 'bytes', limit: 1000, used: 0, requested: null },
    );
    expect(await usedBy(service, 'chunked')).toEqual([0, 1, 1]);
  });

  test('of two concurrent uploads without size_bytes never exceed the limit together', async () => {
    const started = await Promise.all([1, 2].map(() => openUpload(service, 'at once', IMAGE)));
    const answers = await Promise.all(started.map((one) => putBytes(one, PNG)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 400]);
    expect(await usedBy(service, 'at once')).toEqual([600, 2, 2]);
  });
});

describe('assets and pending uploads', () => {
  test('have separate limits', async () => {
    for (let opened = 0; opened < 3; opened++) await openUpload(service, 'counts', IMAGE);
    expectOverQuota(await ask('counts'), { field: 'pending', limit: 3, used: 3, requested: 1 });
    const link = (provider_video_id: string) =>
      call(service, 'POST /media/upload-url?expand=asset', {
        headers: asService,
        json: { ...VIDEO, owner_user_id: 'counts', provider: 'cdnhost', provider_video_id },
      });
    expectSuccess(await link('v1'));
    expectSuccess(await link('v2'));
    const linked = await link('v3');
    expectOverQuota(linked, { field: 'assets', limit: 5, used: 5, requested: 1 });
    expect(await usedBy(service, 'counts')).toEqual([0, 5, 3]);
  });

  test('are counted per owner, also if one back end calls for several owners', async () => {
    const asBackEnd = (owner_user_id: string) =>
      call(service, 'POST /media/upload-url?expand=asset', {
        headers: asService,
        json: { ...IMAGE, owner_user_id },
      });
    for (let opened = 0; opened < 3; opened++) expectSuccess(await asBackEnd('eve'));
    expectOverQuota(await asBackEnd('eve'), { field: 'pending', limit: 3, used: 3, requested: 1 });
    expectSuccess(await asBackEnd('dan'));
  });

  test('are counted once for a repeated Idempotency-Key', async () => {
    const headers = { ...asUser('again'), 'idempotency-key': 'one' };
    const json = { ...IMAGE, size_bytes: 10 };
    for (let sent = 0; sent < 5; sent++)
      expectSuccess(await call(service, 'POST /media/upload-url?expand=asset', { headers, json }));
    expect(await usedBy(service, 'again')).toEqual([10, 1, 1]);
  });
});

describe('a reservation is released', () => {
  test('by deletion; an asset in the trash still counts, except as a pending upload', async () => {
    const { asset_id: id } = await openUpload(service, 'trash', { ...IMAGE, size_bytes: 900 });
    await remove('trash', id, '?trash=true');
    expect(await usedBy(service, 'trash')).toEqual([900, 1, 0]);
    expectSuccess(await call(service, `POST /media/${id}/restore`, { headers: asUser('trash') }));
    expect(await usedBy(service, 'trash')).toEqual([900, 1, 1]);
    await remove('trash', id);
    expect(await usedBy(service, 'trash')).toEqual([0, 0, 0]);
    expectSuccess(await ask('trash', { size_bytes: 1000 }));
  });

  test('a pending upload can be restored from the trash only if the quota allows it', async () => {
    const { asset_id: id } = await openUpload(service, 'back', IMAGE);
    await remove('back', id, '?trash=true');
    for (let opened = 0; opened < 3; opened++) await openUpload(service, 'back', IMAGE);
    const restored = await call(service, `POST /media/${id}/restore`, { headers: asUser('back') });
    expectOverQuota(restored, { field: 'pending', limit: 3, used: 3, requested: 1 });
    expect(await usedBy(service, 'back')).toEqual([0, 4, 3]);
  });

  test('when the bytes are rejected; the asset itself still counts', async () => {
    const started = await openUpload(service, 'no media', { ...IMAGE, size_bytes: 300 });
    expectSuccess(await putBytes(started, Buffer.alloc(300, 'no media')));
    expectRefusal(await complete(service, 'no media', started.asset_id), 400);
    expect(await usedBy(service, 'no media')).toEqual([0, 1, 0]);
  });

  test('a completed upload is no longer pending', async () => {
    const started = await openUpload(service, 'done', { ...IMAGE, size_bytes: PNG.length });
    expectSuccess(await putBytes(started, PNG));
    expectSuccess(await complete(service, 'done', started.asset_id));
    expect(await usedBy(service, 'done')).toEqual([PNG.length, 1, 0]);
  });

  test('when the upload expires', async () => {
    for (let opened = 0; opened < 3; opened++)
      await openUpload(service, 'late', { ...IMAGE, size_bytes: 300 });
    offset += 25 * 3_600_000;
    const { jobs, db } = service.adapters;
    await db.transaction((tx) => jobs.send(tx, 'expire-uploads', {}));
    await eventually(
      () => usedBy(service, 'late'),
      ([bytes, , pending]) => bytes === 0 && pending === 0,
    );
    expectSuccess(await ask('late', { size_bytes: 1000 }));
  });
});

describe('an operator', () => {
  const limitsOf = (owner: string) => `/admin/owners/${encodeURIComponent(owner)}/limits`;
  const put = (owner: string, json: object) =>
    call(service, `PUT ${limitsOf(owner)}`, { headers: asOperator, json });

  test('raises, lowers and removes the limits of one owner, and resets them to the settings', async () => {
    const owner = 'a/b ü';
    expect(expectSuccess(await put(owner, { max_bytes: 5000, max_pending: null }))).toEqual({
      owner_user_id: owner,
      limits: { max_bytes: 5000, max_assets: 5, max_pending: null },
      overrides: { max_bytes: 5000, max_pending: null },
      usage: { bytes: 0, assets: 0, pending: 0 },
    });
    for (let opened = 0; opened < 4; opened++) expectSuccess(await ask(owner, { size_bytes: 1001 }));
    expectSuccess(await put(owner, { max_assets: 2 }));
    expectOverQuota(await ask(owner), { field: 'assets', limit: 2, used: 4, requested: 1 });
    const read = await call(service, `GET ${limitsOf(owner)}`, { headers: asOperator });
    expect(expectSuccess(read)).toMatchObject({
      limits: { max_bytes: 1000, max_assets: 2, max_pending: 3 },
      usage: { bytes: 4004, assets: 4, pending: 4 },
    });
    const cleared = await call(service, `DELETE ${limitsOf(owner)}`, { headers: asOperator });
    expect(expectSuccess(cleared)).toMatchObject({
      limits: { max_bytes: 1000, max_assets: 5, max_pending: 3 },
      overrides: {},
    });
    expectOverQuota(await ask(owner), { field: 'pending', limit: 3, used: 4, requested: 1 });
  });

  test('resets the limits of an owner with pending uploads, who can delete them', async () => {
    const [first, second] = [
      await openUpload(service, 'reset', IMAGE),
      await openUpload(service, 'reset', IMAGE),
    ];
    await call(service, `DELETE ${limitsOf('reset')}`, { headers: asOperator });
    await remove('reset', first.asset_id, '?trash=true');
    await remove('reset', second.asset_id);
    expect(await usedBy(service, 'reset')).toEqual([0, 1, 0]);
  });

  test('is the only caller that may do so, and only with whole numbers', async () => {
    for (const headers of [asUser('ann'), asService])
      expectRefusal(await call(service, `GET ${limitsOf('ann')}`, { headers }), 401);
    expectFieldRefused(await put('ann', { max_bytes: -1 }), 'max_bytes');
    expectFieldRefused(await put('ann', { max_assets: 'many' }), 'max_assets');
    expectFieldRefused(await put(' ', {}), 'owner_user_id');
  });
});

test('counters equal a recount after all of these', async () => {
  const owners = await rows(service.dataDir, 'select owner_user_id from owner_usage');
  expect(owners.length).toBeGreaterThan(10);
  expect(await usageDrift(service.dataDir)).toEqual([]);
});
