// Files in parts: requests that are refused, and what bounds parts and their joining (contract B4).
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { sql } from '../../../service/src/platform/postgres/sql.ts';
import { IMAGE, openUpload, putBytes, readAsset, type Started } from '../../support/media.ts';
import { asUser, call, eventually, startTestService, type TestService } from '../../support/service.ts';
import { filesNaming } from '../../support/service/traces.ts';
import { concat, createParts, finalOf, idOf, PARTS } from '../../support/uploads/tus-parts.ts';
import { BYTES, CHUNK, create, send, TUS, tusUrl } from '../../support/uploads/tus.ts';
import { uploadsOf } from '../../support/postgres/upload-rows.ts';
import { usageDrift } from '../../support/assets/usage.ts';

const LIMIT = 8_000_000;

let service: TestService;
beforeAll(async () => {
  service = await startTestService({ MAX_UPLOAD_BYTES: String(LIMIT), OWNER_MAX_BYTES: String(LIMIT) });
});
afterAll(() => service.stop());

const open = (owner: string, fields: object = {}) => openUpload(service, owner, { ...IMAGE, ...fields });
type Bytes = { readonly used: number; readonly uploading: number };
async function expectUsage(owner: string, expected: Partial<Bytes>): Promise<void> {
  const usage = await call<{ bytes: Bytes }>(service, 'GET /usage', { headers: asUser(owner) });
  expect(usage.body.data.bytes).toMatchObject(expected);
}
const setQuota = (owner: string, bytes: number) =>
  service.adapters.db.one(sql('test: set the quota')`
    update owner_usage set overrides = ${JSON.stringify({ bytes })}::jsonb where owner_user_id = ${owner}`);

describe('a request is refused', () => {
  let started: Started;
  let urls: string[];
  beforeAll(async () => {
    started = await open('hal', { size_bytes: BYTES.length });
    urls = await createParts(started);
  });

  test.each([
    ['has a length', () => [urls, { 'upload-length': '3000000' }] as const, 'invalid_value'],
    ['names no part', () => [[]] as const, 'invalid_value'],
    ['names a part twice', () => [[urls[0], urls[0]]] as const, 'invalid_value'],
    ['names another page', () => [['https://example.com/file']] as const, 'invalid_value'],
    ['names an unknown part', () => [[urls[0], `tus/${randomUUID()}`]] as const, 'unknown_partial'],
    [
      'names more than 16 parts',
      () => [Array.from({ length: 17 }, () => `tus/${randomUUID()}`)] as const,
      'above_maximum',
    ],
    ['is of another kind', () => [urls, { 'upload-concat': 'whole' }] as const, 'invalid_value'],
    ['names too few bytes', () => [urls.slice(1)] as const, 'invalid_value'],
  ])('that %s', async (_what, build, reason) => {
    const [named, headers] = build() as readonly [string[], Record<string, string>?];
    expect(await concat(started, named, headers)).toMatchObject({ status: 400, reason });
  });

  test('that names parts of another asset or owner, or a whole upload', async () => {
    for (const owner of ['hal', 'ida']) {
      const [foreign = ''] = await createParts(await open(owner), [PARTS[0] as Uint8Array]);
      for (const named of [foreign, `tus/${idOf(foreign)}`])
        expect(await concat(started, [named, ...urls.slice(1)])).toMatchObject({
          status: 400,
          reason: 'unknown_partial',
        });
    }
    const whole = await create(started);
    expect(await concat(started, [whole])).toMatchObject({ status: 400, reason: 'unknown_partial' });
  });

  test('that needs a valid ticket and a body of the parts alone', async () => {
    const url = tusUrl(started);
    expect(await send(`POST ${url.split('?')[0]}`, finalOf(urls))).toMatchObject({ status: 401 });
    expect(await send(`POST ${url}`, { ...CHUNK, ...finalOf(urls) }, BYTES)).toMatchObject({ status: 400 });
  });
});

describe('parts are limited', () => {
  const tryPart = (started: Started, length: number) =>
    send(`POST ${tusUrl(started)}`, { ...TUS, 'upload-concat': 'partial', 'upload-length': String(length) });

  test('to the size of the file, to a known length, to 16, and to three files in all', async () => {
    const started = await open('kim', { size_bytes: 1000 });
    expect(await tryPart(started, 1001)).toMatchObject({ status: 413 });
    const deferred = { ...TUS, 'upload-concat': 'partial', 'upload-defer-length': '1' };
    expect(await send(`POST ${tusUrl(started)}`, deferred)).toMatchObject({
      status: 400,
      reason: 'required',
    });
    for (let count = 1; count <= 3; count += 1)
      expect(await tryPart(started, 1000)).toMatchObject({ status: 201 });
    expect(await tryPart(started, 1)).toMatchObject({ status: 413 });
    const many = await open('kim', { size_bytes: 1000 });
    for (let count = 1; count <= 16; count += 1)
      expect(await tryPart(many, 10)).toMatchObject({ status: 201 });
    expect(await tryPart(many, 10)).toMatchObject({ status: 400, reason: 'above_maximum' });
    expect(await putBytes(many, BYTES.subarray(0, 1000))).toMatchObject({ status: 200 });
  });

  test('together to the maximum of an upload', async () => {
    const started = await open('lea');
    await setQuota('lea', 2 * LIMIT);
    const half = Buffer.alloc(LIMIT / 2);
    const urls = await createParts(started, [half, half, half.subarray(0, 1)]);
    expect(await concat(started, urls)).toMatchObject({ status: 413, reason: 'size_above_limit' });
    expect(await concat(started, urls.slice(0, 2))).toMatchObject({ status: 201 });
    expect(await readAsset(service, 'lea', started.asset_id)).toMatchObject({ size_bytes: LIMIT });
  });

  test('to the quota of the owner, which counts a part twice while it is joined', async () => {
    const started = await open('max');
    const parts = [Buffer.alloc(3_000_000, 1), Buffer.alloc(3_000_000, 2)];
    const urls = await createParts(started, parts);
    await expectUsage('max', { used: 6_000_000 });
    const refused = await concat(started, urls);
    expect(refused).toMatchObject({ status: 400, reason: 'quota_exceeded' });
    await expectUsage('max', { used: 6_000_000 });
    await setQuota('max', 9_000_000);
    expect(await concat(started, urls)).toMatchObject({ status: 201 });
    await expectUsage('max', { used: 6_000_000, uploading: 0 });
  });

  test('to the lifetime of an upload', async () => {
    const started = await open('nia');
    const [url = ''] = await createParts(started, [PARTS[0] as Uint8Array]);
    const { db, jobs } = service.adapters;
    await db.one(sql('test: expire a part')`
      update uploads set expires_at = now() - interval '1 s' where id = ${idOf(url)}`);
    expect(await concat(started, [url])).toMatchObject({ status: 400, reason: 'unknown_partial' });
    await db.transaction((tx) => jobs.send(tx, 'expire-uploads', {}));
    await eventually(
      () => uploadsOf(service, started.asset_id),
      (rows) => rows.length === 0,
    );
    expect(await filesNaming(join(service.dataDir, 'objects'), started.asset_id)).toEqual([]);
  });
});

test('counters equal a recount after all of these', async () => {
  expect(await usageDrift(service.dataDir)).toEqual([]);
});
