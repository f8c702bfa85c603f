// A retry of an asset whose bytes were rejected or missing opens another upload of the same asset (contract
// B4).
import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeClip } from '../../support/clips/clips.ts';
import { expectRefusal, expectSuccess } from '../../support/http/envelope.ts';
import {
  type AssetJson,
  complete,
  offer,
  openUpload,
  putBytes,
  readAsset,
  type Started,
  settled,
} from '../../support/media.ts';
import {
  asOperator,
  asUser,
  call,
  eventually,
  startTestService,
  type TestService,
} from '../../support/service.ts';
import { originalFiles, rows } from '../../support/service/traces.ts';
import { usedBy } from '../../support/assets/usage.ts';
import { PROCESSED, tell } from '../../support/providers/webhooks.ts';

let service: TestService;
let clip: Buffer;
let ahead = 0;
beforeAll(async () => {
  service = await startTestService(
    { UPLOAD_TTL_S: '600' },
    { now: () => new Date(Date.now() + ahead), isStoreDirect: false },
  );
  clip = await readFile(await makeClip({ seconds: 1, width: 64, height: 64, fps: 10 }));
});
afterAll(() => service?.stop());

type Retried = AssetJson & Pick<Started, 'upload' | 'upload_url' | 'alternatives'>;
const NO_MEDIA = Buffer.alloc(2000, 'no media');

const ask = (id: string, user = 'ann') =>
  call<Started>(service, `POST /media/${id}/retry?expand=asset`, { headers: asUser(user) });
const retry = async (id: string, user?: string): Promise<Retried> =>
  toRetried(expectSuccess<Started>(await ask(id, user)));
const toRetried = (started: Started): Retried => ({ ...started, ...started.asset });
const asStarted = (asset: Retried): Started => ({ ...asset, asset, asset_id: asset.id });

test('rejected bytes are replaced in a new attempt of the same asset', async () => {
  const { id } = await offer(service, 'ann', { bytes: NO_MEDIA, fields: { title: 'Launch', tags: ['a'] } });
  const failed = await readAsset(service, 'ann', id);
  expect(failed.failure).toMatchObject({ code: 'type_mismatch', retryable: true });
  const retried = await retry(id);
  expect(retried).toMatchObject({
    id,
    title: 'Launch',
    tags: ['a'],
    stream_status: 'pending_upload',
    failure: null,
    size_bytes: null,
    uploaded_at: null,
    upload: { protocol: 'put', method: 'PUT' },
    alternatives: [{ protocol: 'tus', method: 'POST' }],
  });
  expect(retried.upload_url).toBe(retried.upload?.url);
  expect((await complete(service, 'ann', id)).body.error.details).toEqual({ reason: 'not_uploaded' });
  expect((await putBytes(asStarted(retried), clip)).status).toBe(200);
  expect((await complete(service, 'ann', id)).status).toBe(200);
  expect(await settled(service, 'ann', id)).toMatchObject({ stream_status: 'ready', title: 'Launch' });
  await eventually(
    () => originalFiles(service.dataDir, id),
    (files) => files.length <= 1,
  );
});

test('a repeated retry returns the same attempt, also during and after the upload', async () => {
  const { id } = await offer(service, 'ann', { bytes: NO_MEDIA });
  const answers = await Promise.all([retry(id), retry(id), retry(id)]);
  for (const answer of answers) expect(answer.stream_status).toBe('pending_upload');
  const [{ attempt } = {}] = await rows(service.dataDir, 'select attempt from assets where id = $1', [id]);
  expect(attempt).toBe(2);
  expect((await putBytes(asStarted(await retry(id)), clip)).status).toBe(200);
  expect(await retry(id)).toMatchObject({ upload: null, upload_url: null });
});

test('the upload URL of the earlier attempt is invalid, and its reports are ignored', async () => {
  const started = await openUpload(service, 'ann');
  await putBytes(started, NO_MEDIA);
  await complete(service, 'ann', started.asset_id);
  await retry(started.asset_id);
  expectRefusal(await putBytes(started, clip), 401);
  expect(
    await tell(service, 'onprem', { asset_id: started.asset_id, status: 'failed', attempt: 1 }),
  ).not.toEqual(PROCESSED);
  expect(await readAsset(service, 'ann', started.asset_id)).toMatchObject({
    stream_status: 'pending_upload',
  });
});

test('the announced size and checksum stay, unless the announced file itself was rejected', async () => {
  const wrong = Buffer.from(clip).fill(7, 100, 110);
  const sum = async (bytes: Uint8Array) =>
    Buffer.from(await crypto.subtle.digest('SHA-256', bytes as Uint8Array<ArrayBuffer>)).toString('hex');
  const fields = { size_bytes: clip.length, checksum_sha256: await sum(clip) };
  const kept = await offer(service, 'ann', { bytes: wrong, fields });
  expect(kept.completed.body.error.details).toEqual({ reason: 'checksum_mismatch' });
  const again = asStarted(await retry(kept.id));
  expectRefusal(await putBytes(again, NO_MEDIA), 400);
  expect((await putBytes(again, clip)).status).toBe(200);
  expect((await complete(service, 'ann', kept.id)).status).toBe(200);

  const announced = { size_bytes: NO_MEDIA.length, checksum_sha256: await sum(NO_MEDIA) };
  const dropped = await offer(service, 'ann', { bytes: NO_MEDIA, fields: announced });
  expect((await putBytes(asStarted(await retry(dropped.id)), clip)).status).toBe(200);
  expect((await complete(service, 'ann', dropped.id)).status).toBe(200);
});

test('an expired upload is reopened, with the lifetime of a new one', async () => {
  const { asset_id: id } = await openUpload(service, 'ann');
  ahead = 700_000;
  try {
    await service.adapters.db.transaction((tx) => service.adapters.jobs.send(tx, 'expire-uploads', {}));
    const failed = await eventually(
      () => readAsset(service, 'ann', id),
      ({ stream_status }) => stream_status === 'failed',
    );
    expect(failed.failure).toMatchObject({ code: 'upload_expired', retryable: true });
    const retried = await retry(id);
    expect(retried.stream_status).toBe('pending_upload');
    expect((await putBytes(asStarted(retried), clip)).status).toBe(200);
    expect((await complete(service, 'ann', id)).status).toBe(200);
  } finally {
    ahead = 0;
  }
});

test("a reopened upload counts in its owner's quota", async () => {
  const { id } = await offer(service, 'quinn', { bytes: NO_MEDIA });
  await call(service, 'PUT /admin/owners/quinn/limits', { headers: asOperator, json: { max_pending: 1 } });
  const { asset_id: other } = await openUpload(service, 'quinn');
  expect(expectRefusal(await ask(id, 'quinn'), 400).details).toMatchObject({
    reason: 'quota_exceeded',
    field: 'pending',
  });
  expect(await readAsset(service, 'quinn', id)).toMatchObject({ stream_status: 'failed' });
  await call(service, `DELETE /media/${other}`, { headers: asUser('quinn') });
  await retry(id, 'quinn');
  expect((await usedBy(service, 'quinn')).at(-1)).toBe(1);
});
