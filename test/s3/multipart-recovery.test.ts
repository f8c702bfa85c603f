// An upload in parts is finished or removed whatever fails in between (contract B4).
import { randomBytes, randomUUID } from 'node:crypto';
import { ListMultipartUploadsCommand } from '@aws-sdk/client-s3';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { sql } from '../../service/src/platform/postgres/sql.ts';
import { uploadKey } from '../../service/src/storage/object-key.ts';
import type { ObjectKey } from '../../service/src/storage/object-key.ts';
import type { MultipartUpload } from '../../service/src/storage/object-store.ts';
import { type ClockedService, startClockedService } from '../support/service/clocked-service.ts';
import { expectRefusal } from '../support/http/envelope.ts';
import { type FaultyS3, isComplete, startFaultyS3 } from '../support/store/faulty-s3.ts';
import { openUpload, putBytes, readAsset, type Started } from '../support/media.ts';
import { multipartClient, sendParts } from '../support/uploads/multipart.ts';
import { createBucket, describeS3, reachedBy, type TestBucket } from '../support/store/s3.ts';
import { type Answer, asUser, call, eventually, type TestService } from '../support/service.ts';
import { REMOVE_ORPHANS, runStorageCheck } from '../support/service/storage-check.ts';

const expectReason = (answer: Answer<unknown>, status: number, reason: string) =>
  expect(expectRefusal(answer, status).details).toMatchObject({ reason });

describeS3('an upload in parts', () => {
  /** Two parts. */
  const film = randomBytes(9 * 1024 ** 2);
  let bucket: TestBucket;
  let proxy: FaultyS3;
  let clocked: ClockedService;
  let service: TestService;
  beforeAll(async () => {
    bucket = await createBucket();
    proxy = await startFaultyS3(bucket.location.endpoint ?? '');
    clocked = await startClockedService({
      STORAGE_URL: reachedBy(bucket, proxy.url, `&public_endpoint=${bucket.location.endpoint}`).url,
      MULTIPART_UPLOAD_BYTES: '1000',
      LOG_LEVEL: 'error',
    });
    service = clocked.service;
  });
  afterEach(() => proxy?.heal());
  afterAll(async () => {
    await service?.stop();
    await proxy?.stop();
  });

  const open = () => openUpload(service, 'ann', { size_bytes: film.length });
  const sent = async (started: Started) => {
    const client = multipartClient(started);
    const { body } = await client.create();
    await sendParts(client, body.data, film);
    return { client, id: body.data.uploadId };
  };
  const inStore = async (): Promise<MultipartUpload[]> => {
    const { Uploads = [] } = await bucket.client.send(
      new ListMultipartUploadsCommand({ Bucket: bucket.location.bucket }),
    );
    return Uploads.map(({ Key = '', UploadId = '' }) => ({ key: Key as ObjectKey, uploadId: UploadId }));
  };
  const openUploads = async (id: string) => (await inStore()).filter(({ key }) => key.includes(id)).length;
  const events = async (id: string) => {
    const headers = asUser('ann');
    type Items = { items: { type: string }[] };
    const { body } = await call<Items>(service, `GET /media/${id}/timeline`, { headers });
    return body.data.items.map(({ type }) => type);
  };
  /** As if the processes that held them had ended a minute ago. */
  const endLeases = () =>
    service.adapters.db.all(sql('end leases')`
      update uploads set lease_until = now() - interval '1 second' where lease_until is not null`);

  test('is aborted on request, and when a third one is created', async () => {
    const started = await open();
    const first = await sent(started);
    expect((await first.client.abort(first.id)).status).toBe(200);
    expectRefusal(await first.client.complete(first.id), 404);
    const uploads = [];
    for (let count = 0; count < 3; count++) uploads.push((await first.client.create()).body.data);
    expect(await openUploads(started.asset_id)).toBe(2);
    const [oldest] = uploads;
    expectRefusal(await first.client.list(oldest?.uploadId ?? ''), 404);
    const answers = await Promise.all(Array.from({ length: 6 }, () => first.client.create()));
    for (const { status } of answers) expect([200, 409]).toContain(status);
    expect(await openUploads(started.asset_id)).toBeLessThanOrEqual(2);
  });

  describe('is completed once', () => {
    test('by two requests at the same time', async () => {
      const started = await open();
      const { client, id } = await sent(started);
      const answers = await Promise.all([client.complete(id), client.complete(id)]);
      expect(answers.map(({ status }) => status)).toEqual([200, 200]);
      expect((await events(started.asset_id)).filter((type) => type === 'asset.uploaded')).toHaveLength(1);
    });

    test('where the response of the store is lost', async () => {
      const { client, id } = await sent(await open());
      proxy.fail('lost', isComplete, 1);
      expect((await client.complete(id)).status).toBe(200);
    });

    test('by a job, where the process ended before or after the store joined the parts', async () => {
      const assets = [await open(), await open(), await open()];
      const [lost = '', joined = '', waiting = ''] = await Promise.all(assets.map(interrupted));
      proxy.heal();
      const { direct } = service.adapters.store;
      for (const upload of await inStore()) {
        if (upload.key.endsWith(lost)) await direct?.abortMultipart(upload);
        if (upload.key.endsWith(joined))
          await direct?.completeMultipart(upload, (await direct.listParts(upload)) ?? []);
      }
      expect(await openUploads(waiting)).toBe(1);
      await endLeases();
      await clocked.runAfter(2, 'expire-uploads');
      const sizes = assets.map(
        async ({ asset_id: id }) => (await readAsset(service, 'ann', id))['size_bytes'],
      );
      expect(await Promise.all(sizes)).toEqual([null, film.length, film.length]);
    });

    async function interrupted(started: Started): Promise<string> {
      const { client, id } = await sent(started);
      proxy.fail('busy', (request) => isComplete(request) && request.path.includes(id));
      expect((await client.complete(id)).status).toBe(503);
      return id;
    }
  });

  test('loses to a PUT that finished before, and is removed', async () => {
    const started = await open();
    const { client, id } = await sent(started);
    expect((await putBytes(started, film)).status).toBe(200);
    expectReason(await client.complete(id), 409, 'already_uploaded');
    await call(service, `DELETE /media/${started.asset_id}`, { headers: asUser('ann') });
    await eventually(
      () => openUploads(started.asset_id),
      (count) => count === 0,
    );
  });

  test('whose process ended before it was recorded is found and aborted by operators', async () => {
    const [kept, lost] = [await open(), uploadKey(randomUUID(), randomUUID())];
    await multipartClient(kept).create();
    await service.adapters.store.direct?.createMultipart(lost, 'video/mp4');
    expect((await runStorageCheck(service, REMOVE_ORPHANS)).findings).toEqual([]);
    await clocked.runAfter(23 * 60, 'expire-uploads');
    await multipartClient(kept).create();
    await clocked.runAfter(90, 'reconcile');
    expect((await runStorageCheck(service)).findings).toMatchObject([{ kind: 'orphaned_upload', key: lost }]);
    await runStorageCheck(service, REMOVE_ORPHANS);
    expect((await inStore()).map(({ key }) => key)).not.toContain(lost);
    expect(await openUploads(kept.asset_id)).toBe(2);
  });

  test('expires with its parts, and its asset with it', async () => {
    const started = await open();
    const { client, id } = await sent(started);
    await clocked.runAfter(24 * 60 + 1, 'expire-uploads');
    expectRefusal(await client.list(id), 404);
    expectReason(await multipartClient(started).create(), 401, 'expired');
    expect(await openUploads(started.asset_id)).toBe(0);
    await clocked.runAfter(120, 'expire-uploads');
    expect((await readAsset(service, 'ann', started.asset_id)).failure).toMatchObject({
      code: 'upload_expired',
    });
  });
});
