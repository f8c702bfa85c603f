// The usage of an owner, with and without quotas; quotas that are enabled later count existing assets.
import { rm } from 'node:fs/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readConfig } from '../../../service/src/config.ts';
import { expectFieldRefused, expectRefusal, expectSuccess } from '../../support/http/envelope.ts';
import { IMAGE, openUpload, putBytes } from '../../support/media.ts';
import {
  asOperator,
  asService,
  asUser,
  call,
  SECRETS,
  startTestService,
  type TestService,
} from '../../support/service.ts';
import { newDatabaseDir } from '../../support/service/data-folders.ts';
import { usedBy } from '../../support/assets/usage.ts';
import { rows } from '../../support/service/traces.ts';

let dataDir: string;
let service: TestService;
const restart = async (settings: Readonly<Record<string, string>>) => {
  await service?.stop();
  service = await startTestService({ DATA_DIR: dataDir, ...settings });
};
beforeAll(async () => {
  dataDir = await newDatabaseDir();
  await restart({});
});
afterAll(async () => {
  await service?.stop();
  await rm(dataDir, { recursive: true, force: true, maxRetries: 5 });
});

test('without quotas usage is returned without limits, and no counter is stored', async () => {
  await openUpload(service, 'ann', { ...IMAGE, size_bytes: 100 });
  await putBytes(await openUpload(service, 'ann', IMAGE), Buffer.alloc(50));
  expect(expectSuccess(await call(service, 'GET /usage', { headers: asUser('ann') }))).toEqual({
    owner_user_id: 'ann',
    bytes: { used: 150, uploading: 0, limit: null },
    assets: { used: 2, limit: null },
    pending: { used: 2, limit: null },
  });
  expect(await rows(dataDir, 'select * from owner_usage')).toEqual([]);
});

test('a back end names the owner, a user sees its own usage only', async () => {
  expectFieldRefused(await call(service, 'GET /usage', { headers: asService }), 'owner_user_id');
  const named = await call(service, 'GET /usage?owner_user_id=ann', { headers: asService });
  expect(expectSuccess(named)).toMatchObject({ owner_user_id: 'ann', assets: { used: 2 } });
  const other = await call(service, 'GET /usage?owner_user_id=ann', { headers: asUser('bob') });
  expect(expectSuccess(other)).toMatchObject({ owner_user_id: 'bob', assets: { used: 0 } });
  expectRefusal(await call(service, 'GET /usage'), 401);
});

test('limits of one owner work without settings, and do not affect others', async () => {
  const path = '/admin/owners/ann/limits';
  expectSuccess(await call(service, `PUT ${path}`, { headers: asOperator, json: { max_assets: 3 } }));
  await openUpload(service, 'ann', IMAGE);
  const refused = await call(service, 'POST /media/upload-url?expand=asset', {
    headers: asUser('ann'),
    json: IMAGE,
  });
  expect(expectRefusal(refused, 400).details).toMatchObject({ reason: 'quota_exceeded', used: 3 });
  for (let opened = 0; opened < 5; opened++) await openUpload(service, 'bob', IMAGE);
  expectSuccess(await call(service, `DELETE ${path}`, { headers: asOperator }));
  await openUpload(service, 'ann', IMAGE);
  expect(await usedBy(service, 'ann')).toEqual([150, 4, 4]);
});

test('new quotas count existing assets and uploads in progress', async () => {
  const started = await openUpload(service, 'ann', IMAGE);
  await restart({ OWNER_MAX_BYTES: '160' });
  const url = new URL(started.upload_url as string);
  const upload_url = `${service.address}${url.pathname}${url.search}`;
  const refused = await putBytes({ ...started, upload_url }, Buffer.alloc(11));
  expect(expectRefusal(refused, 400).details).toMatchObject({
    reason: 'quota_exceeded',
    field: 'bytes',
    used: 150,
    requested: 11,
  });
  expectSuccess(await putBytes({ ...started, upload_url }, Buffer.alloc(10)));
  expect(await usedBy(service, 'ann')).toEqual([160, 5, 5]);
  await restart({});
  await openUpload(service, 'ann', { ...IMAGE, size_bytes: 1000 });
});

test('invalid limits prevent the start', () => {
  const read = (settings: Readonly<Record<string, string>>) => () =>
    readConfig({ ...SECRETS, ...settings }, (path) => path);
  expect(read({ OWNER_MAX_ASSETS: '0' })).toThrow('OWNER_MAX_ASSETS');
});
