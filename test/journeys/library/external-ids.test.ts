// An application finds its assets by its own ids, and creates each one once, whatever it repeats (contract
// B4).
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createMediary, type UploadError } from '@mediary/client';
import { makeSmallPng } from '../../support/encoding/processed-assets.ts';
import { expectFieldRefused, expectRefusal, expectSuccess } from '../../support/http/envelope.ts';
import { file } from '../../support/http/file-server.ts';
import { type AssetJson, IMAGE, openUpload, putBytes, type Started } from '../../support/media.ts';
import { runCli } from '../../support/service/cli.ts';
import { asOperator, asService, asUser, call, SECRETS } from '../../support/service.ts';
import { type Imports, requestImport, startImports } from '../../support/uploads/imports.ts';

let imports: Imports;
let service: Imports['service'];
let png: Buffer;
beforeAll(async () => {
  imports = await startImports();
  ({ service } = imports);
  png = await makeSmallPng();
});
afterAll(() => imports?.stop());

const TAKEN = { field: 'external_id', reason: 'external_id_taken' };
type Page = { items: AssetJson[] };

const create = (user: string, fields: object, query = '') =>
  call<Started>(service, `POST /media/upload-url${query}`, {
    headers: asUser(user),
    json: { ...IMAGE, ...fields },
  });
const change = (user: string, id: string, json: object) =>
  call<AssetJson>(service, `PATCH /media/${id}`, { headers: asUser(user), json });
const find = async (user: string, externalId: string) =>
  expectSuccess<Page>(
    await call(service, `GET /media?external_id=${encodeURIComponent(externalId)}`, {
      headers: asUser(user),
    }),
  ).items.map(({ id }) => id);
const trash = async (user: string, id: string) =>
  expectSuccess(await call(service, `DELETE /media/${id}?trash=true`, { headers: asUser(user) }));

test('an asset is found by the id of the application, which only one asset of an owner has', async () => {
  const { asset_id: id, asset } = await openUpload(service, 'ann', { ...IMAGE, external_id: 'Ünï/42 ' });
  expect(asset['external_id']).toBe('Ünï/42 ');
  expect(await find('ann', 'Ünï/42 ')).toEqual([id]);
  expect(await find('ann', 'ünï/42 ')).toEqual([]);
  expect(expectRefusal(await create('ann', { external_id: 'Ünï/42 ' }), 409).details).toMatchObject(TAKEN);

  const other = await openUpload(service, 'ben', { ...IMAGE, external_id: 'Ünï/42 ' });
  expect(await find('ben', 'Ünï/42 ')).toEqual([other.asset_id]);
  const all = await call<Page>(service, `GET /admin/media?external_id=${encodeURIComponent('Ünï/42 ')}`, {
    headers: asOperator,
  });
  expect(all.body.data.items.map(({ id }) => id).sort()).toEqual([id, other.asset_id].sort());
});

test('assets without such an id do not stand in the way of each other', async () => {
  const first = await openUpload(service, 'carla', IMAGE);
  const second = await openUpload(service, 'carla', { ...IMAGE, external_id: null });
  expect(first.asset['external_id']).toBeNull();
  expect(second.asset['external_id']).toBeNull();
});

test.each(['', 'x'.repeat(256), 'a\u0000b', 7])('the id %j is refused', async (externalId) => {
  expectFieldRefused(await create('ann', { external_id: externalId }), 'external_id');
});

describe('if_exists=return', () => {
  test('makes one asset of requests that come at the same time', async () => {
    const answers = await Promise.all(
      Array.from({ length: 12 }, () => create('dora', { external_id: 'race' }, '?if_exists=return')),
    );
    const opened = answers.map((answer) => expectSuccess<Started & { is_existing: boolean }>(answer));
    expect(new Set(opened.map(({ asset_id: id }) => id)).size).toBe(1);
    expect(opened.filter(({ is_existing: isExisting }) => !isExisting)).toHaveLength(1);
    expect(await find('dora', 'race')).toHaveLength(1);
  });

  test('offers the upload until the bytes have come, and changes no member', async () => {
    const fields = { external_id: 'once', title: 'First' };
    await create('ella', fields, '?if_exists=return');
    const query = '?if_exists=return&expand=asset';
    const again = expectSuccess<Started>(await create('ella', { ...fields, title: 'Second' }, query));
    expect(again).toMatchObject({
      is_existing: true,
      upload: { protocol: 'put' },
      asset: { title: 'First' },
    });
    expectSuccess(await putBytes(again, png));
    expect(expectSuccess(await create('ella', fields, query))).toMatchObject({
      asset_id: again.asset_id,
      is_existing: true,
      upload: null,
      upload_url: null,
    });
  });

  test('needs the id', async () => {
    expectFieldRefused(await create('ann', {}, '?if_exists=return'), 'external_id');
    expectFieldRefused(await create('ann', { external_id: null }, '?if_exists=return'), 'external_id');
    expectFieldRefused(await create('ann', { external_id: 'a' }, '?if_exists=replace'), 'if_exists');
  });

  test('returns an import instead of a second download', async () => {
    const url = imports.server.serve('/picture', file(png, { 'content-type': 'image/png' }));
    const first = expectSuccess<AssetJson>(await requestImport(service, { url, external_id: 'remote' }));
    expect(
      expectRefusal(await requestImport(service, { url, external_id: 'remote' }), 409).details,
    ).toMatchObject(TAKEN);
    const again = await call<AssetJson>(service, 'POST /media/import?if_exists=return', {
      headers: asUser(String(first['owner_user_id'])),
      json: { url: 'http://127.0.0.1:1/gone', external_id: 'remote' },
    });
    expect(expectSuccess(again)).toMatchObject({ id: first.id, external_id: 'remote' });
  });

  test('shows the holder of an upload token only assets of the token', async () => {
    await openUpload(service, 'finn', { ...IMAGE, external_id: 'secret' });
    const token = await call<{ token: string }>(service, 'POST /upload-tokens', {
      headers: asService,
      json: { owner_user_id: 'finn', max_uploads: 5 },
    });
    const headers = { authorization: `Bearer ${token.body.data.token}` };
    const byToken = (externalId: string) =>
      call<Started>(service, 'POST /media/upload-url?if_exists=return', {
        headers,
        json: { ...IMAGE, size_bytes: png.length, external_id: externalId },
      });
    expect(expectRefusal(await byToken('secret'), 403).details).toMatchObject({
      reason: 'upload_token_bounds',
    });
    const own = expectSuccess<Started>(await byToken('page'));
    expect(expectSuccess<Started>(await byToken('page')).asset_id).toBe(own.asset_id);
  });
});

test('PATCH sets, moves and clears the id', async () => {
  const { asset_id: first } = await openUpload(service, 'gina', IMAGE);
  const { asset_id: second } = await openUpload(service, 'gina', IMAGE);
  expect(expectSuccess(await change('gina', first, { external_id: 'moved' }))).toMatchObject({
    external_id: 'moved',
  });
  const refused = expectRefusal(await change('gina', second, { external_id: 'moved', title: 'New' }), 409);
  expect(refused.details).toMatchObject(TAKEN);
  const unchanged = await call(service, `GET /media/${second}`, { headers: asUser('gina') });
  expect(expectSuccess(unchanged)).toMatchObject({ external_id: null, title: null, version: 1 });
  expectSuccess(await change('gina', first, { external_id: null }));
  expectSuccess(await change('gina', second, { external_id: 'moved' }));
  expect(await find('gina', 'moved')).toEqual([second]);
});

test('a deleted asset gives its id up, and cannot come back while another one has it', async () => {
  const { asset_id: first } = await openUpload(service, 'hugo', { ...IMAGE, external_id: 'reused' });
  await trash('hugo', first);
  expect(await find('hugo', 'reused')).toEqual([]);
  const { asset_id: second } = await openUpload(service, 'hugo', { ...IMAGE, external_id: 'reused' });
  const restore = () => call(service, `POST /media/${first}/restore`, { headers: asUser('hugo') });
  expect(expectRefusal(await restore(), 409).details).toMatchObject(TAKEN);
  await trash('hugo', second);
  expect(expectSuccess(await restore())).toMatchObject({ external_id: 'reused' });
});

const createSdk = (ownerUserId: string) =>
  createMediary({ baseUrl: service.address, serviceKey: SECRETS.SERVICE_API_KEY, ownerUserId });
const pngFile = () => new File([Buffer.from(png)], 'picture.png', { type: 'image/png' });

describe('the SDK, which repeats an upload', () => {
  const options = { externalId: 'cover', ifExists: 'return', resume: false } as const;

  test('completes it where the bytes have come', async () => {
    const opened = await openUpload(service, 'jana', { ...IMAGE, external_id: 'cover' });
    expectSuccess(await putBytes(opened, png));
    const uploaded = await createSdk('jana').media.upload(pngFile(), options);
    expect(uploaded).toMatchObject({ id: opened.asset_id, uploaded_at: expect.any(String) });
    expect(uploaded.stream_status).not.toBe('pending_upload');
  });

  test('opens another one where the bytes were refused', async () => {
    const { media } = createSdk('karl');
    const text = new File(['no picture'], 'picture.png', { type: 'image/png' });
    const refused: unknown = await media.upload(text, options).catch((error: unknown) => error);
    expect(refused).toMatchObject({ name: 'UploadError', reason: 'type_mismatch' });
    const uploaded = await media.upload(pngFile(), options);
    expect(uploaded).toMatchObject({ id: (refused as UploadError).assetId, size_bytes: png.length });
    expect(uploaded.stream_status).not.toBe('failed');
  });
});

test('the SDK and the command repeat an upload without a second asset', async () => {
  const mediary = createSdk('ines');
  const picture = pngFile();
  const options = { externalId: 'cover', ifExists: 'return', resume: false } as const;
  const uploaded = await mediary.media.upload(picture, options);
  expect(uploaded.external_id).toBe('cover');
  expect((await mediary.media.upload(picture, options)).id).toBe(uploaded.id);

  const env = { MEDIARY_URL: service.address, MEDIARY_SERVICE_KEY: SECRETS.SERVICE_API_KEY };
  const listed = await runCli(['ls', '--owner', 'ines', '--external-id', 'cover', '--json'], {
    folder: service.dataDir,
    env,
  });
  expect(listed, listed.stderr).toMatchObject({ code: 0, stdout: expect.stringContaining(uploaded.id) });
});
