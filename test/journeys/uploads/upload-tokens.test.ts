// Upload tokens: a page uploads without the user's own token, within the bounds that the back end chose
// (contract B11).
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createMediary } from '@mediary/client';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { sql } from '../../../service/src/platform/postgres/sql.ts';
import { runCli } from '../../support/service/cli.ts';
import { expectFieldRefused, expectRefusal, expectSuccess } from '../../support/http/envelope.ts';
import {
  type AssetJson,
  IMAGE,
  openUpload,
  putBytes,
  readAsset,
  type Started,
  VIDEO,
} from '../../support/media.ts';
import {
  asService,
  asUser,
  call,
  eventually,
  SECRETS,
  startTestService,
  type TestService,
} from '../../support/service.ts';

let service: TestService;
let picture: Buffer;
beforeAll(async () => {
  service = await startTestService();
  picture = await sharp({ create: { width: 64, height: 48, channels: 3, background: 'teal' } })
    .png()
    .toBuffer();
});
afterAll(() => service?.stop());

type Token = { readonly id: string; readonly token: string; readonly expires_at: string };

const request = (fields: object, headers: Record<string, string> = asService) =>
  call<Token>(service, 'POST /upload-tokens', { headers, json: { owner_user_id: 'ann', ...fields } });
const createToken = async (fields: object = {}): Promise<Token> =>
  expectSuccess(await request(fields)) as Token;
const withToken = ({ token }: Pick<Token, 'token'>) => ({ authorization: `Bearer ${token}` });
const create = (token: Pick<Token, 'token'>, fields: object = {}, headers: object = {}) =>
  call(service, 'POST /media/upload-url?expand=asset', {
    headers: { ...withToken(token), ...headers },
    json: { ...IMAGE, ...fields },
  });

test('the SDK creates a token for a page, whose client uploads with it and does nothing else', async () => {
  const { address: baseUrl } = service;
  const backEnd = createMediary({ baseUrl, serviceKey: SECRETS.SERVICE_API_KEY, ownerUserId: 'ann' });
  const { token, owner_user_id } = await backEnd.uploadTokens.create({ kinds: ['image'], max_uploads: 1 });
  expect(owner_user_id).toBe('ann');
  const page = createMediary({ baseUrl, token });
  const asset = await page.media.upload(new Blob([Uint8Array.from(picture)], { type: 'image/png' }), {
    filename: 'me.png',
  });
  expect(asset).toMatchObject({ owner_user_id: 'ann', kind: 'image' });
  await expect(page.usage.get()).rejects.toMatchObject({ reason: 'upload_token_bounds' });
  await expect(page.uploadTokens.create()).rejects.toMatchObject({ status: 403 });
});

test('the command creates a token within bounds, and uploads with it', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'mediary-cli-'));
  await writeFile(join(folder, 'me.png'), picture);
  const run = (args: string, credentials: Readonly<Record<string, string>>) =>
    runCli(args.split(' '), { folder, env: { MEDIARY_URL: service.address, ...credentials } });
  const backEnd = { MEDIARY_SERVICE_KEY: SECRETS.SERVICE_API_KEY };
  const create = 'upload-tokens create --owner ann --kind image --max-size 50k --tag profile --expires';
  const token = JSON.parse((await run(`${create} 15m --json`, backEnd)).stdout);
  const bounds = { kinds: ['image'], mime_types: null, max_bytes: 51_200, max_uploads: 1, tags: ['profile'] };
  expect(token).toMatchObject({ ...bounds, owner_user_id: 'ann', visibility: 'private' });

  const page = { MEDIARY_TOKEN: token.token };
  expect(JSON.parse((await run('upload me.png --json', page)).stdout)).toMatchObject({ tags: ['profile'] });
  const second = await run('upload me.png', page);
  expect([second.code, second.stderr]).toEqual([3, expect.stringContaining('upload_token_used_up')]);
  const tooLong = await run(`${create} 2d`, backEnd);
  expect([tooLong.code, tooLong.stderr]).toEqual([1, expect.stringContaining('Correct --expires.')]);
  await rm(folder, { recursive: true });
});

describe('a page with an upload token', () => {
  test('creates, sends, completes and reads its upload, which belongs to the owner', async () => {
    const token = await createToken({
      kinds: ['image'],
      max_bytes: 100_000,
      tags: ['avatar'],
      visibility: 'public',
    });
    expect(token.token).toMatch(/^mut_[\w-]+$/);
    const opened = expectSuccess<Started>(
      await create(token, { size_bytes: picture.length, tags: ['mine'], visibility: 'private' }),
    );
    expect((await putBytes(opened, picture)).status).toBe(200);
    const path = `/media/${opened.asset_id}`;
    expectSuccess(await call(service, `POST ${path}/complete`, { headers: withToken(token) }));
    await eventually(
      () => call(service, `GET ${path}`, { headers: withToken(token) }),
      ({ body }) => body.data['stream_status'] === 'ready',
    );
    expect(await readAsset(service, 'ann', opened.asset_id)).toMatchObject({
      owner_user_id: 'ann',
      visibility: 'public',
      tags: ['mine', 'avatar'],
    });
  });

  test('can do nothing else, with its own asset or with others of the owner', async () => {
    const token = await createToken();
    const headers = withToken(token);
    const own = (expectSuccess(await create(token)) as AssetJson)['asset_id'];
    const { asset_id: other } = await openUpload(service, 'ann');
    for (const line of [
      'GET /media',
      'GET /usage',
      'GET /events',
      `GET /media/${own}/playback`,
      `GET /media/${own}/download-url`,
      `GET /media/${own}/timeline`,
      `DELETE /media/${own}`,
      `PATCH /media/${own}`,
      `POST /media/${own}/retry`,
      'POST /media/import',
      'POST /upload-tokens',
      'GET /webhook-endpoints',
      `GET /media/${other}`,
      `POST /media/${other}/complete`,
    ]) {
      const json = line.startsWith('GET') ? {} : { json: { url: 'https://a.example/a.png', title: 'x' } };
      const refused = expectRefusal(await call(service, line, { headers, ...json }), 403);
      expect(refused.details, line).toMatchObject({ reason: 'upload_token_bounds' });
    }
    expectSuccess(await call(service, `GET /media/${own}`, { headers }));
  });

  test('creates only as many assets as the token allows, also at once and with repeats', async () => {
    const token = await createToken({ max_uploads: 3 });
    const repeated = { 'idempotency-key': 'one' };
    const answers = await Promise.all([
      create(token, {}, repeated),
      ...Array.from({ length: 7 }, () => create(token)),
    ]);
    const created = answers.filter(({ status }) => status === 200);
    expect(created).toHaveLength(3);
    for (const refused of answers.filter(({ status }) => status !== 200))
      expect(expectRefusal(refused, 403).details).toEqual({ reason: 'upload_token_used_up', limit: 3 });
  });

  test('learns the bound that a file exceeds', async () => {
    const token = await createToken({
      kinds: ['image'],
      mime_types: ['image/png'],
      max_bytes: 1000,
      max_uploads: 9,
    });
    for (const [fields, field] of [
      [{ ...VIDEO, size_bytes: 10 }, 'mime_type'],
      [{ mime_type: 'image/jpeg', size_bytes: 10 }, 'mime_type'],
      [{}, 'size_bytes'],
      [{ size_bytes: 1001 }, 'size_bytes'],
    ] as const) {
      const answer = await create(token, fields);
      expectFieldRefused(answer, field);
    }
    expectSuccess(await create(token, { size_bytes: 1000 }));
  });
});

describe('a token', () => {
  test('is created by a service key only, for media types of the service', async () => {
    expectRefusal(await request({}, asUser('ann')), 403);
    expectFieldRefused(await request({ mime_types: ['image/svg+xml'] }), 'mime_types');
    expectFieldRefused(await request({ owner_user_id: undefined }), 'owner_user_id');
    expectFieldRefused(await request({ expires_in: 86_401 }), 'expires_in');
  });

  test('that is altered or expired is 401, and its rows are deleted a day later', async () => {
    const { id, token } = await createToken({ expires_in: 2 });
    const altered = `${token.slice(0, -2)}${token.endsWith('A') ? 'B' : 'A'}`;
    expect(expectRefusal(await create({ token: altered }), 401).details).toMatchObject({
      reason: 'bad_signature',
    });
    const expired = await eventually(
      () => create({ token }),
      ({ status }) => status === 401,
    );
    expect(expectRefusal(expired, 401).details).toMatchObject({ reason: 'expired' });
    const { db, jobs } = service.adapters;
    const remaining = () =>
      db.all(
        sql('upload token of test', { uploads: 'int4' })`select uploads from upload_tokens where id = ${id}`,
      );
    expect(await remaining()).toHaveLength(1);
    await db.transaction(async (tx) => {
      await tx.one(sql('age upload token')`
        update upload_tokens set expires_at = now() - interval '25 hours' where id = ${id}`);
      await jobs.send(tx, 'delete-expired-keys', {});
    });
    await eventually(remaining, (rows) => rows.length === 0);
  });
});
