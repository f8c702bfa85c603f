// Clients send a file in parts straight to the store, and the service joins them (contract B4).
import { createHash, randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import sharp from 'sharp';
import { uploadKey } from '../../service/src/storage/object-key.ts';
import { makeClip } from '../support/clips/clips.ts';
import { expectRefusal } from '../support/http/envelope.ts';
import { complete, IMAGE, openUpload, settled, type Started, VIDEO } from '../support/media.ts';
import { multipartClient, sendPart, sendParts } from '../support/uploads/multipart.ts';
import { createBucket, describeS3 } from '../support/store/s3.ts';
import { type Answer, call, eventually, startTestService, type TestService } from '../support/service.ts';

const MIB = 1024 ** 2;
const PART = 8 * MIB;
const UNKNOWN = '6f1c2a52-8f0e-4d7e-9a41-0a3c4c6f7f10';

const expectReason = (answer: Answer<unknown>, status: number, reason: string) =>
  expect(expectRefusal(answer, status).details).toMatchObject({ reason });

describeS3('an upload in parts', () => {
  let service: TestService;
  /** A film of 18 MiB: three parts. */
  let film: Buffer;
  beforeAll(async () => {
    service = await startTestService({
      STORAGE_URL: (await createBucket()).url,
      MULTIPART_UPLOAD_BYTES: '1000',
      OWNER_MAX_BYTES: String(200 * MIB),
    });
    const clip = await readFile(await makeClip({ seconds: 2, width: 320, height: 180 }));
    film = Buffer.concat([clip, freeBox(18 * MIB - clip.length)]);
  });
  afterAll(() => service?.stop());

  const open = (fields: object = { size_bytes: film.length }, user = 'ann') =>
    openUpload(service, user, fields);
  const created = async (started: Started, json?: object) => {
    const client = multipartClient(started);
    return { client, upload: (await client.create(json)).body.data };
  };

  test('of a film makes it ready; it continues with the parts that are missing', async () => {
    const started = await open();
    expect(started.upload).toMatchObject({ protocol: 's3-multipart', part_size_bytes: PART });
    const { client, upload } = await created(started);
    expect(upload).toMatchObject({ part_size_bytes: PART, max_parts: 3 });
    const { uploadId: id } = upload;
    const second = (await client.sign(id, 2)).body.data;
    const { headers } = await sendPart(second, film.subarray(PART, 2 * PART));
    expect((await client.list(id)).body.data.parts).toEqual([
      { PartNumber: 2, Size: PART, ETag: headers.get('etag') },
    ]);
    expectReason(await client.complete(id), 400, 'missing_parts');
    expectReason(await complete(service, 'ann', started.asset_id), 400, 'not_uploaded');
    await sendParts(client, upload, film);
    const parts = (await client.list(id)).body.data.parts.map(({ PartNumber, ETag }) => ({
      PartNumber,
      ETag,
    }));
    expect((await client.complete(id, parts)).body.data).toMatchObject({
      stream_status: 'pending_upload',
      size_bytes: film.length,
    });
    expect((await client.complete(id)).status, 'it can be repeated').toBe(200);
    expect((await complete(service, 'ann', started.asset_id)).status).toBe(200);
    expect(await settled(service, 'ann', started.asset_id)).toMatchObject({
      stream_status: 'ready',
      checksum_sha256: createHash('sha256').update(film).digest('hex'),
      duplicate_of: null,
    });
    const again = await open();
    const repeated = await created(again);
    await sendParts(repeated.client, repeated.upload, film);
    await repeated.client.complete(repeated.upload.uploadId);
    await complete(service, 'ann', again.asset_id);
    expect(await settled(service, 'ann', again.asset_id)).toMatchObject({ duplicate_of: started.asset_id });
  });

  test('of other bytes than announced fails when they are read, and is removed', async () => {
    const picture = await sharp({ create: { width: 40, height: 30, channels: 3, background: '#20c040' } })
      .png()
      .toBuffer();
    for (const [bytes, fields] of [
      [film, VIDEO],
      [picture, { ...IMAGE, size_bytes: undefined }],
    ] as const) {
      const started = await open({ size_bytes: film.length, checksum_sha256: '00'.repeat(32), ...fields });
      const { client, upload } = await created(started);
      await sendParts(client, upload, bytes);
      await client.complete(upload.uploadId);
      expect((await complete(service, 'ann', started.asset_id)).status).toBe(200);
      const failed = await settled(service, 'ann', started.asset_id);
      expect(failed).toMatchObject({ stream_status: 'failed', failure: { code: 'checksum_mismatch' } });
      expectReason(await complete(service, 'ann', started.asset_id), 400, 'checksum_mismatch');
      await eventually(
        () => service.adapters.store.size(uploadKey(started.asset_id, upload.uploadId)),
        (size) => size === undefined,
      );
    }
  });

  test('takes parts of their exact length and bytes only', async () => {
    const { client, upload } = await created(await open());
    const { uploadId: id } = upload;
    expectReason(await client.sign(id, 4), 400, 'above_maximum');
    expectReason(await client.sign(id, 1, '?size_bytes=5'), 400, 'part_size_mismatch');
    expectRefusal(await client.sign(id, 0), 400);
    const part = randomBytes(2 * MIB);
    const sha256 = createHash('sha256').update(part).digest('hex');
    const { body } = await client.signMany(id, [
      { PartNumber: 3, checksum_sha256: sha256 },
      { PartNumber: 1 },
    ]);
    const [third, first] = body.data.parts;
    if (!third || !first) throw new Error('parts are missing');
    expect((await sendPart(third, randomBytes(2 * MIB))).status, 'other bytes').toBe(400);
    expect((await sendPart(third, part)).status).toBe(200);
    expect((await sendPart(first, part)).status, 'another length').toBe(403);
    expectReason(await client.complete(id, [{ PartNumber: 3, ETag: '"other"' }]), 400, 'part_changed');
  });

  test('of unknown size ends with its last part, within the maximum and the quota', async () => {
    const { client, upload } = await created(await open({}));
    const { uploadId: id } = upload;
    const [full, last] = [
      (await client.sign(id, 1)).body.data,
      (await client.sign(id, 2, '?size_bytes=7')).body.data,
    ];
    await sendPart(last, randomBytes(7));
    expectReason(await client.complete(id), 400, 'missing_parts');
    await sendPart(full, randomBytes(PART));
    expect((await client.complete(id)).body.data).toMatchObject({ size_bytes: PART + 7 });
    const limited = await created(await open({}, 'bob'), { size_bytes: 10 * MIB });
    expectReason(await limited.client.sign(limited.upload.uploadId, 3), 400, 'above_maximum');
    expectReason(
      await multipartClient(await open({}, 'bob')).create({ size_bytes: 201 * MIB }),
      400,
      'quota_exceeded',
    );
  });

  test('needs the ticket of its asset', async () => {
    const [started, other] = [await open(), await open()];
    const { client, upload } = await created(started);
    const { asset_id: assetId, upload: target } = started;
    const swapped = multipartClient({ ...other, asset_id: assetId });
    expectReason(await swapped.create(), 401, 'invalid_credential');
    expectReason(await swapped.sign(upload.uploadId, 1), 401, 'invalid_credential');
    const url = target?.url ?? '';
    const forged = { ...started, upload: target && { ...target, url: `${url}x` } };
    expectReason(await multipartClient(forged).create(), 401, 'invalid_credential');
    expectReason(await call({ url: '' }, `POST ${url.split('?')[0]}`, { json: {} }), 401, 'missing');
    expect((await call({ url: '' }, `POST ${url}`, { json: {} })).status, 'in the query').toBe(200);
    expectRefusal(await multipartClient(other).list(upload.uploadId), 404);
    for (const id of [UNKNOWN, 'x']) expectRefusal(await client.list(id), 404);
  });

  test('answers clients that speak the XML of S3', async () => {
    const started = await open();
    const { s3_url: url } = { s3_url: '', ...started.upload };
    const send = async (method: string, query = '') => {
      const body = method === 'POST' ? '<CompleteMultipartUpload/>' : undefined;
      const response = await fetch(`${url}${query}`, { method, ...(body && { body }) });
      return {
        status: response.status,
        type: response.headers.get('content-type'),
        text: await response.text(),
      };
    };
    const begun = await send('POST');
    expect(begun).toMatchObject({ status: 200, type: 'application/xml' });
    const [, id = ''] = /<UploadId>([^<]+)</.exec(begun.text) ?? [];
    const client = multipartClient(started);
    const part = await sendPart((await client.sign(id, 1)).body.data, film.subarray(0, PART));
    const etag = part.headers.get('etag')?.replaceAll('"', '&quot;');
    expect((await send('GET', `&uploadId=${id}`)).text).toContain(
      `<Part><PartNumber>1</PartNumber><ETag>${etag}</ETag><Size>${PART}</Size></Part>`,
    );
    expect((await send('POST', `&uploadId=${id}`)).status, 'parts are missing').toBe(400);
    await sendParts(client, { ...(await client.create()).body.data, uploadId: id }, film);
    expect((await send('POST', `&uploadId=${id}`)).text).toContain(
      '<CompleteMultipartUploadResult><Location>',
    );
    expect((await send('DELETE', `&uploadId=${id}`)).status, 'it is finished').toBe(409);
    expect((await send('GET', `&uploadId=${UNKNOWN}`)).status).toBe(404);
    expect((await fetch(url.replace(/ticket=.{8}/, 'ticket=forgeries'), { method: 'POST' })).status).toBe(
      401,
    );
    const other = await created(await open());
    const otherUrl = url.replace(started.asset_id, other.upload.key.split('/')[1] ?? '');
    expect((await fetch(otherUrl, { method: 'POST' })).status, 'the ticket of another asset').toBe(401);
  });
});

/** Players skip a `free` box, so it makes a film larger. */
function freeBox(length: number): Buffer {
  const box = randomBytes(length);
  box.writeUInt32BE(length, 0);
  box.write('free', 4, 'latin1');
  return box;
}
