// Clients send bytes straight to the store and read them back; the store enforces what was signed.
import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { request as send } from 'node:http';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { attachment } from '../../service/src/platform/http/headers.ts';
import { uploadKey } from '../../service/src/storage/object-key.ts';
import type {
  DirectUploads,
  MultipartUpload,
  PresignedRequest,
} from '../../service/src/storage/object-store.ts';
import { openS3ObjectStore, type S3ObjectStore } from '../../service/src/storage/s3-object-store.ts';
import { createBucket, describeS3 } from '../support/store/s3.ts';

const MIB = 1024 ** 2;
const expiresInSeconds = 60;
const newKey = () => uploadKey(randomUUID(), randomUUID());
const sha256Of = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');

type Answer = { readonly status: number; readonly etag: string; readonly body: string };

/** Sends exactly these headers; fetch adds and changes some. */
function sendTo({ url, method }: PresignedRequest, headers: object, body?: Uint8Array): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const request = send(url, { method, headers: { ...headers } }, (response) => {
      const { statusCode: status = 0, headers: received } = response;
      text(response).then(
        (content) => resolve({ status, etag: String(received.etag), body: content }),
        reject,
      );
    });
    request.on('error', reject).end(body);
  });
}

const answerTo = (request: PresignedRequest, changes: object, body: Uint8Array) =>
  sendTo(request, { ...request.headers, ...changes }, body);

describeS3('direct uploads', () => {
  let store: S3ObjectStore;
  let direct: DirectUploads;
  beforeAll(async () => {
    store = openS3ObjectStore((await createBucket({ parameters: '&prefix=media' })).location);
    direct = store.direct;
  });
  afterAll(() => store?.close());

  describe('a presigned PUT', () => {
    const bytes = randomBytes(1000);
    const presign = (key = newKey()) =>
      direct.presignPut({
        key,
        contentType: 'video/mp4',
        contentLength: bytes.length,
        sha256: sha256Of(bytes),
        expiresInSeconds,
      });

    test('stores the announced bytes, once', async () => {
      const key = newKey();
      const request = await presign(key);
      expect(request).toMatchObject({ method: 'PUT', headers: { 'content-type': 'video/mp4' } });
      expect((await answerTo(request, {}, bytes)).status).toBe(200);
      expect(await store.size(key)).toBe(bytes.length);
      expect((await answerTo(request, {}, bytes)).status).toBe(412);
    });

    test.for([
      ['another type', { 'content-type': 'text/html' }, bytes],
      ['another length', { 'content-length': '1001' }, randomBytes(1001)],
      ['the SHA-256 of other bytes', { 'x-amz-content-sha256': sha256Of(Buffer.from('x')) }, bytes],
      ['other bytes', {}, randomBytes(1000)],
      ['permission to overwrite', { 'if-none-match': 'x' }, bytes],
    ] as const)('refuses %s', async ([, changes, body]) => {
      const key = newKey();
      expect([400, 403]).toContain((await answerTo(await presign(key), changes, body)).status);
      expect(await store.size(key)).toBeUndefined();
    });

    test('expires', async () => {
      const request = await direct.presignPut({
        key: newKey(),
        contentType: 'video/mp4',
        contentLength: bytes.length,
        expiresInSeconds: 1,
      });
      expect(request.expiresAt.getTime()).toBeLessThanOrEqual(Date.now() + 1000);
      await expect
        .poll(async () => (await answerTo(request, { 'content-type': 'video/mp4' }, bytes)).status, {
          timeout: 10_000,
        })
        .toBe(403);
    });
  });

  test('a presigned GET has the name and type that the service chose', async () => {
    const key = newKey();
    await store.put(key, once(Buffer.from('<b>bytes</b>')), 100);
    const { url } = await direct.presignGet({
      key,
      responseContentDisposition: "attachment; filename*=UTF-8''%C3%BC%20(1).mp4",
      responseContentType: 'video/mp4',
      expiresInSeconds,
    });
    const response = await fetch(url, { headers: { range: 'bytes=3-7' } });
    expect([response.status, await response.text()]).toEqual([206, 'bytes']);
    expect(response.headers.get('content-disposition')).toBe("attachment; filename*=UTF-8''%C3%BC%20(1).mp4");
    expect(response.headers.get('content-type')).toBe('video/mp4');
    expect((await fetch(url.replace('mp4', 'htm'))).status).toBe(403);
  });

  test.each([
    'a"; filename="evil.exe',
    'back\\slash\\".png',
    '100%41%0d%0aEvil: yes.png',
    '=?utf-8?Q?x?=',
    'line\u2028separator\u2029.png',
    '🎞'.repeat(255),
    "apo'strophe* +&.png",
    ' spaces around ',
  ])('a download has its file name, and no name adds a header: %s', async (filename) => {
    const key = newKey();
    await store.put(key, once(Buffer.from('bytes')), 100);
    const { url } = await direct.presignGet({
      key,
      responseContentDisposition: attachment(filename),
      responseContentType: 'image/png',
      expiresInSeconds,
    });
    const { status, headers } = await fetch(url);
    expect([status, headers.get('content-disposition')]).toEqual([200, attachment(filename)]);
    expect(headers.has('evil')).toBe(false);
  });

  describe('an upload in parts', () => {
    const parts = [randomBytes(5 * MIB), randomBytes(5 * MIB), randomBytes(1000)];
    const sendPart = async (upload: MultipartUpload, number: number) => {
      const body = parts[number - 1] ?? Buffer.alloc(0);
      const request = await direct.presignPart({
        ...upload,
        partNumber: number,
        contentLength: body.length,
        sha256: sha256Of(body),
        expiresInSeconds,
      });
      return answerTo(request, {}, body);
    };
    const sendAll = async (upload: MultipartUpload) => {
      for (const number of [2, 3, 1]) expect((await sendPart(upload, number)).status).toBe(200);
    };

    test('is an object when it is completed, and completing it again changes nothing', async () => {
      const upload = await direct.createMultipart(newKey(), 'video/mp4');
      await sendAll(upload);
      const stored = (await direct.listParts(upload)) ?? [];
      expect(stored.map(({ partNumber, sizeBytes }) => [partNumber, sizeBytes])).toEqual([
        [1, 5 * MIB],
        [2, 5 * MIB],
        [3, 1000],
      ]);
      expect(await store.size(upload.key)).toBeUndefined();
      await direct.completeMultipart(upload, stored);
      await direct.completeMultipart(upload, stored);
      expect(sha256Of(Buffer.concat(await store.stream(upload.key).toArray()))).toBe(
        sha256Of(Buffer.concat(parts)),
      );
      expect(await direct.listParts(upload)).toBeUndefined();
    });

    test('refuses a part of other bytes', async () => {
      const upload = await direct.createMultipart(newKey(), 'video/mp4');
      const request = await direct.presignPart({
        ...upload,
        partNumber: 1,
        contentLength: 4,
        sha256: sha256Of(Buffer.from('good')),
        expiresInSeconds,
      });
      expect((await answerTo(request, {}, Buffer.from('evil'))).status).toBe(400);
      expect(await direct.listParts(upload)).toEqual([]);
      await direct.abortMultipart(upload);
    });

    test('is refused with a part that the store does not have, or that is too short', async () => {
      const upload = await direct.createMultipart(newKey(), 'video/mp4');
      for (const number of [3, 2]) await sendPart(upload, number);
      const stored = (await direct.listParts(upload)) ?? [];
      const wrong = stored.map((part) => ({ ...part, etag: '"0123456789abcdef0123456789abcdef"' }));
      await expect(direct.completeMultipart(upload, wrong)).rejects.toMatchObject({ reason: 'cut_short' });
      const shortFirst = stored.map((part) => ({ ...part, partNumber: part.partNumber === 3 ? 1 : 2 }));
      await expect(direct.completeMultipart(upload, shortFirst)).rejects.toMatchObject({
        reason: 'cut_short',
      });
      expect(await store.size(upload.key)).toBeUndefined();
    });

    test('leaves nothing when it is aborted, and aborting it again is no error', async () => {
      const upload = await direct.createMultipart(newKey(), 'video/mp4');
      await sendPart(upload, 3);
      await direct.abortMultipart(upload);
      await direct.abortMultipart(upload);
      expect(await direct.listParts(upload)).toBeUndefined();
      expect((await sendPart(upload, 3)).status).toBe(404);
    });

    test('does not replace an object', async () => {
      const upload = await direct.createMultipart(newKey(), 'video/mp4');
      await sendAll(upload);
      await store.put(upload.key, once(Buffer.from('first')), 5);
      const stored = (await direct.listParts(upload)) ?? [];
      await expect(direct.completeMultipart(upload, stored)).rejects.toMatchObject({ reason: 'exists' });
      expect(await store.size(upload.key)).toBe(5);
    });
  });
});

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}
