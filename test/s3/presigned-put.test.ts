// A client sends a whole file straight to the store; `complete` finds it there (contract B4).
import { createHash, randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { sql } from '../../service/src/platform/postgres/sql.ts';
import { uploadKey } from '../../service/src/storage/object-key.ts';
import { presignedUploadId } from '../../service/src/storage/upload-id.ts';
import { makeClip } from '../support/clips/clips.ts';
import { type ClockedService, startClockedService } from '../support/service/clocked-service.ts';
import { expectRefusal } from '../support/http/envelope.ts';
import {
  complete,
  IMAGE,
  openUpload,
  putBytes,
  readAsset,
  settled,
  type Started,
  VIDEO,
} from '../support/media.ts';

import { createBucket, describeS3 } from '../support/store/s3.ts';
import { type Answer, asUser, call, eventually, type TestService } from '../support/service.ts';
import { uploadsOf } from '../support/postgres/upload-rows.ts';

const expectReason = (answer: Answer<unknown>, reason: string) =>
  expect(expectRefusal(answer, 400).details).toMatchObject({ reason });
const sha256Of = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');

/** Removals that wait until the URL has expired, and its last transfer has ended. */
const findLaterRemovals = ({ adapters }: TestService, ids: readonly string[]) =>
  adapters.db.all(sql('test: later removals', { minutes: 'int4' })`
    select (extract(epoch from start_after - now()) / 60)::int4 as minutes from pgboss.job
     where name = 'purge-asset' and start_after > now() and data ->> 'assetId' = any(${ids}::text[])`);

const startRemovals = ({ adapters }: TestService, ids: readonly string[]) =>
  adapters.db.all(sql('test: start removals')`
    update pgboss.job set start_after = now()
     where name = 'purge-asset' and start_after > now() and data ->> 'assetId' = any(${ids}::text[])`);

describeS3('a presigned PUT', () => {
  let clocked: ClockedService;
  let service: TestService;
  let picture: Buffer;
  beforeAll(async () => {
    const { url } = await createBucket();
    clocked = await startClockedService({ STORAGE_URL: url, MULTIPART_UPLOAD_BYTES: '5000000' });
    service = clocked.service;
    picture = await sharp({ create: { width: 300, height: 200, channels: 3, background: '#2040c0' } })
      .png()
      .toBuffer();
  });
  afterAll(() => service?.stop());

  const open = (bytes: Uint8Array, fields: object = {}) =>
    openUpload(service, 'ann', { ...IMAGE, size_bytes: bytes.length, ...fields });
  const send = ({ upload }: Started, body: Uint8Array, headers: object = {}) =>
    fetch(upload?.url ?? '', {
      method: 'PUT',
      headers: { ...upload?.headers, ...headers },
      body: Buffer.from(body),
    });
  const objectOf = ({ asset_id: id }: Started) => uploadKey(id, presignedUploadId({ id, attempt: 1 }));

  test('is offered first for a file of announced size, and the service itself as alternative', async () => {
    const { upload, upload_url: url, alternatives } = await open(picture);
    expect(upload).toMatchObject({
      protocol: 'put',
      headers: { 'Content-Type': 'image/png', 'If-None-Match': '*' },
      max_bytes: picture.length,
    });
    expect(upload?.url).toBe(url);
    expect(new URL(url ?? '').origin).not.toBe(service.address);
    expect(alternatives).toContainEqual(expect.objectContaining({ protocol: 'put', method: 'PUT' }));
  });

  test.each([
    ['unknown', {}],
    ['larger', { size_bytes: 5_000_001 }],
  ])('is not offered for a file of %s size', async (_what, fields) => {
    const { upload } = await openUpload(service, 'ann', fields);
    expect(upload).toMatchObject({ protocol: 's3-multipart', part_size_bytes: 8 * 1024 ** 2 });
  });

  test('of a video and of an image with SHA-256 makes them ready', async () => {
    const clip = await readFile(await makeClip({ seconds: 2, width: 320, height: 180 }));
    for (const [bytes, fields] of [
      [clip, VIDEO],
      [picture, { checksum_sha256: sha256Of(picture).toUpperCase() }],
    ] as const) {
      const started = await open(bytes, fields);
      expect((await send(started, bytes)).status).toBe(200);
      expect((await complete(service, 'ann', started.asset_id)).body.data).toMatchObject({
        stream_status: 'processing',
        size_bytes: bytes.length,
      });
      expect(await settled(service, 'ann', started.asset_id)).toMatchObject({
        stream_status: 'ready',
        checksum_sha256: sha256Of(bytes),
      });
    }
  });

  test.each([
    ['other bytes', { checksum_sha256: '00'.repeat(32) }, {}],
    ['another type', {}, { 'content-type': 'text/html' }],
    ['another length', { size_bytes: 7 }, {}],
  ])('of %s is refused by the store', async (_what, fields, headers) => {
    const started = await open(picture, fields);
    expect([400, 403]).toContain((await send(started, picture, headers)).status);
    expectReason(await complete(service, 'ann', started.asset_id), 'not_uploaded');
  });

  test('is completed once by two requests, and again with the same answer', async () => {
    const started = await open(picture);
    await send(started, picture);
    const done = () => complete(service, 'ann', started.asset_id);
    const answers = await Promise.all([done(), done()]);
    expect([...answers, await done()].map(({ status }) => status)).toEqual([200, 200, 200]);
    const { body } = await call<{ items: { type: string }[] }>(
      service,
      `GET /media/${started.asset_id}/timeline`,
      { headers: asUser('ann') },
    );
    expect(body.data.items.filter(({ type }) => type === 'asset.uploaded')).toHaveLength(1);
  });

  test('cannot replace the original: it stays as it is', async () => {
    const started = await open(picture);
    await send(started, picture);
    await complete(service, 'ann', started.asset_id);
    expect((await send(started, randomBytes(picture.length))).status).toBe(412);
    expect((await putBytes(started, picture)).status).toBe(409);
  });

  test('loses to a PUT to the service that finished before', async () => {
    const started = await open(picture);
    const put = await putBytes(started, picture);
    expect([put.status, put.headers.get('etag')]).toEqual([200, `"${sha256Of(picture)}"`]);
    expect((await send(started, randomBytes(picture.length))).status).toBe(200);
    await complete(service, 'ann', started.asset_id);
    expect(await settled(service, 'ann', started.asset_id)).toMatchObject({
      stream_status: 'ready',
      checksum_sha256: sha256Of(picture),
    });
  });

  test('of a deleted asset, and of an earlier attempt, counts for nothing', async () => {
    const deleted = await open(picture);
    await send(deleted, picture);
    await call(service, `DELETE /media/${deleted.asset_id}`, { headers: asUser('ann') });
    await eventually(
      () => service.adapters.store.size(objectOf(deleted)),
      (size) => size === undefined,
    );
    const refused = await open(Buffer.alloc(100), { size_bytes: 100 });
    await send(refused, Buffer.alloc(100));
    expectReason(await complete(service, 'ann', refused.asset_id), 'type_mismatch');
    await call(service, `POST /media/${refused.asset_id}/retry?expand=asset`, { headers: asUser('ann') });
    await send(refused, Buffer.alloc(100));
    expectReason(await complete(service, 'ann', refused.asset_id), 'not_uploaded');
  });

  test('is recorded as a finished upload when it is completed', async () => {
    const started = await open(picture);
    await send(started, picture);
    expect(await uploadsOf(service, started.asset_id)).toEqual([]);
    await complete(service, 'ann', started.asset_id);
    const id = presignedUploadId({ id: started.asset_id, attempt: 1 });
    expect(await uploadsOf(service, started.asset_id)).toEqual([
      { id, protocol: 'put', bytes_received: picture.length, is_finished: true },
    ]);
  });

  test('that arrives for a deleted asset, or after another upload won, is removed by itself', async () => {
    const [deleted, beaten] = [await open(picture), await open(picture)];
    await call(service, `DELETE /media/${deleted.asset_id}`, { headers: asUser('ann') });
    await putBytes(beaten, picture);
    const ids = [deleted.asset_id, beaten.asset_id];
    const removals = () => findLaterRemovals(service, ids);
    expect(await eventually(removals, (rows) => rows.length === 2)).toEqual(
      ids.map(() => ({ minutes: expect.closeTo(25 * 60, -1) })),
    );
    for (const started of [deleted, beaten]) expect((await send(started, picture)).status).toBe(200);
    await startRemovals(service, ids);
    for (const started of [deleted, beaten])
      await eventually(
        () => service.adapters.store.size(objectOf(started)),
        (size) => size === undefined,
      );
    await complete(service, 'ann', beaten.asset_id);
    expect(await settled(service, 'ann', beaten.asset_id)).toMatchObject({ stream_status: 'ready' });
  });

  describe('that starts in time', () => {
    test('may finish after its URL has expired, but not much later', async () => {
      const [late, lost] = [await open(picture), await open(picture)];
      await clocked.runAfter(24 * 60 + 30, 'expire-uploads');
      await send(late, picture);
      expect((await complete(service, 'ann', late.asset_id)).status).toBe(200);
      await clocked.runAfter(31, 'expire-uploads');
      expect((await readAsset(service, 'ann', lost.asset_id)).failure).toMatchObject({
        code: 'upload_expired',
      });
      await send(lost, picture);
      expectReason(await complete(service, 'ann', lost.asset_id), 'upload_expired');
    });
  });
});
