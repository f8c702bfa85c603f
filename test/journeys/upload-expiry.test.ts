import { afterAll, beforeAll, expect, test } from 'vitest';
import { timelineOf } from '../support/hosted.ts';
import { complete, IMAGE, openUpload, putBytes, readAsset, settled } from '../support/media.ts';
import { type ClockedService, startClockedService } from '../support/clocked-service.ts';
import { makeSmallPng, processedAssetsOf } from '../support/processed-assets.ts';
import type { TestService } from '../support/service.ts';

let clocked: ClockedService;
let service: TestService;
let picture: Buffer;

beforeAll(async () => {
  clocked = await startClockedService();
  service = clocked.service;
  picture = await makeSmallPng();
}, 120_000);
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
