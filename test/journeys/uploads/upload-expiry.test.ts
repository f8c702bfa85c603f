// Uploads expire when no bytes or no completion arrive in time.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { sql } from '../../../service/src/platform/postgres/sql.ts';
import { uploadKey } from '../../../service/src/storage/object-key.ts';
import { timelineOf } from '../../support/providers/hosted.ts';
import { complete, IMAGE, openUpload, putBytes, readAsset, settled } from '../../support/media.ts';
import { type ClockedService, startClockedService } from '../../support/service/clocked-service.ts';
import { makeSmallPng, processedAssetsOf } from '../../support/encoding/processed-assets.ts';
import { eventually, type TestService } from '../../support/service.ts';
import { originalFiles } from '../../support/service/traces.ts';
import { create } from '../../support/uploads/tus.ts';

let clocked: ClockedService;
let service: TestService;
let picture: Buffer;

beforeAll(async () => {
  clocked = await startClockedService();
  service = clocked.service;
  picture = await makeSmallPng();
});
afterAll(() => service?.stop());

const expireAfter = (minutes: number) => clocked.runAfter(minutes, 'expire-uploads');

const { uploaded, statusOf } = processedAssetsOf(() => service);

test('an upload without bytes or without complete fails at its expiry; an active one does not', async () => {
  const [empty, full] = [(await openUpload(service, 'ann')).asset_id, await uploaded(picture, IMAGE)];
  await expireAfter(23 * 60);
  expect([await statusOf(empty), await statusOf(full)]).toEqual(['pending_upload', 'pending_upload']);
  const later = (await openUpload(service, 'ann')).asset_id;
  await expireAfter(2 * 60);
  for (const id of [empty, full]) {
    expect(await readAsset(service, 'ann', id)).toMatchObject({
      stream_status: 'failed',
      uploaded_at: null,
      failure: { code: 'upload_expired', retryable: true },
    });
    expect((await timelineOf(service, id)).at(-1)).toMatchObject({
      type: 'asset.failed',
      source: 'service',
      sentence: expect.stringContaining('upload_expired'),
    });
  }
  expect(await statusOf(later)).toBe('pending_upload');
});

test('bytes that arrive shortly before expiry can be completed for the full time', async () => {
  const started = await openUpload(service, 'ann', IMAGE);
  await expireAfter(23 * 60);
  expect((await putBytes(started, picture)).status).toBe(200);
  await expireAfter(2 * 60);
  expect(await statusOf(started.asset_id)).toBe('pending_upload');
  expect((await complete(service, 'ann', started.asset_id)).status).toBe(200);
  expect(await settled(service, 'ann', started.asset_id)).toMatchObject({ stream_status: 'ready' });
});

test('an upload whose process was killed while it lost to another one expires with its object', async () => {
  const { db, jobs, store } = service.adapters;
  const started = await openUpload(service, 'ann', IMAGE);
  const { asset_id: assetId } = started;
  const upload = new URL(await create(started, picture.length)).pathname.split('/').at(-1) as string;
  const leaseUntil = (until: string) =>
    db.one(sql('test: lease of a killed process')`
      update uploads
         set bytes_received = size_bytes, lease_holder = id, lease_until = now() + ${until}::interval
       where id = ${upload}`);
  await leaseUntil('1 hour');
  await store.put(uploadKey(assetId, upload), [picture], picture.length);
  expect((await putBytes(started, picture)).status).toBe(200);
  expect((await complete(service, 'ann', assetId)).status).toBe(200);
  expect(await settled(service, 'ann', assetId)).toMatchObject({ stream_status: 'ready' });
  await eventually(
    () => jobs.hasOpenJob('purge-asset', { assetId }),
    (isOpen) => !isOpen,
  );
  expect(await originalFiles(service.dataDir, assetId)).toHaveLength(2);
  await leaseUntil('-1 second');
  await expireAfter(25 * 60);
  expect(await originalFiles(service.dataDir, assetId)).toHaveLength(1);
});
