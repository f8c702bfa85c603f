// Resumable uploads to an S3 store: two machines share only a database and a bucket (contract B4).
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { ListMultipartUploadsCommand, ListObjectsV2Command } from '@aws-sdk/client-s3';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '@mediary/embedded-postgres/launcher';
import { Upload } from 'tus-js-client';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ACCESS_KEY, SECRET_KEY } from '../support/store/ceph-rgw.ts';
import { openUpload, readAsset } from '../support/media.ts';
import { urlOf } from '../support/postgres/postgres.ts';
import { createBucket, describeS3, type TestBucket } from '../support/store/s3.ts';
import { asUser, call, eventually } from '../support/service.ts';
import { newDataDir } from '../support/service/data-folders.ts';
import { endAllIn, type ServiceProcess, startProcess } from '../support/service/service-process.ts';
import { beginPatch, create, offsetOf, patch, send, targetsOf, tusUrl } from '../support/uploads/tus.ts';
import { REMOVE_ORPHANS, runStorageCheck } from '../support/service/storage-check.ts';

const MIB = 1024 ** 2;
const SIZE = 64 * MIB + 12_345;

describeS3('resumable uploads on separate machines', () => {
  let folders: string[];
  let bucket: TestBucket;
  let postgres: EmbeddedPostgres;
  let first: ServiceProcess;
  let second: ServiceProcess;
  const content = randomBytes(SIZE);

  beforeAll(async () => {
    folders = await Promise.all([newDataDir(), newDataDir(), newDataDir()]);
    const [databaseDir = '', firstDir = '', secondDir = ''] = folders;
    bucket = await createBucket();
    postgres = await startEmbeddedPostgres(databaseDir);
    const shared = {
      DATABASE_URL: urlOf(postgres),
      STORAGE_URL: bucket.url,
      AWS_ACCESS_KEY_ID: ACCESS_KEY,
      AWS_SECRET_ACCESS_KEY: SECRET_KEY,
    };
    first = await startProcess({ ...shared, DATA_DIR: firstDir });
    second = await startProcess({ ...shared, DATA_DIR: secondDir });
  });
  afterAll(async () => {
    if (!second) return;
    await Promise.all([first, second].map((process) => process.end('SIGKILL')));
    await Promise.all(folders.slice(1).map(endAllIn));
    await postgres.stop();
    await Promise.all(folders.map((folder) => rm(folder, { recursive: true, force: true, maxRetries: 5 })));
  });

  const atSecond = (url: string) => url.replace(new URL(first.url).origin, new URL(second.url).origin);

  /** Objects and uploads in parts of an asset. */
  const traces = async (id: string) => {
    const at = { Bucket: bucket.location.bucket, Prefix: `originals/${id}/` };
    const [objects, uploads] = await Promise.all([
      bucket.client.send(new ListObjectsV2Command(at)),
      bucket.client.send(new ListMultipartUploadsCommand(at)),
    ]);
    return [...(objects.Contents ?? []), ...(uploads.Uploads ?? [])].map(({ Key = '' }) => Key);
  };

  /** Sends bytes until so many were sent, and breaks the connection. Returns the URL of the upload. */
  const sendUntil = (until: number, target: { endpoint: string } | { uploadUrl: string }) =>
    new Promise<string>((resolve, reject) => {
      const upload = new Upload(content, {
        ...target,
        retryDelays: null,
        onProgress: (sent) => {
          if (sent < until || sent === SIZE) return;
          upload.abort().then(() => resolve(upload.url ?? ''), reject);
        },
        onSuccess: () => resolve(upload.url ?? ''),
        onError: reject,
      });
      upload.start();
    });

  const expectStored = async (id: string) => {
    expect(await readAsset(second, 'ann', id)).toMatchObject({
      size_bytes: SIZE,
      checksum_sha256: createHash('sha256').update(content).digest('hex'),
    });
    const { body } = await call<{ url: string }>(second, `GET /media/${id}/download-url`, {
      headers: asUser('ann'),
    });
    const stored = Buffer.from(await (await fetch(atSecond(body.data.url))).arrayBuffer());
    expect(stored.equals(content)).toBe(true);
  };

  test('go on at the other machine, while the first request is open, and leave one object', async () => {
    const started = await openUpload(first, 'ann', { size_bytes: SIZE });
    expect(targetsOf(started).map(({ protocol }) => protocol)).toContain('tus');
    const url = await create(started, SIZE);
    await patch(url, 0, content.subarray(0, 9 * MIB));
    // Ends with an error: the service closes the connection.
    const sending = Promise.allSettled([patch(url, 9 * MIB, content.subarray(9 * MIB, 30 * MIB))]);
    const offset = await eventually(
      () => offsetOf(atSecond(url)),
      (stored) => stored >= 9 * MIB,
    );
    await sending;
    expect((await patch(atSecond(url), offset, content.subarray(offset))).status).toBe(204);
    await expectStored(started.asset_id);
    expect(await traces(started.asset_id)).toHaveLength(1);
  });

  test('in four parts at the same time leave one object', async () => {
    const started = await openUpload(first, 'ann', { size_bytes: SIZE });
    await new Promise<void>((onSuccess, onError) => {
      const options = { retryDelays: null, onSuccess: () => onSuccess(), onError };
      new Upload(content, { endpoint: tusUrl(started), parallelUploads: 4, ...options }).start();
    });
    await expectStored(started.asset_id);
    expect(await traces(started.asset_id)).toHaveLength(1);
  });

  test('lose no acknowledged byte by broken connections and a kill of the first machine', async () => {
    const started = await openUpload(first, 'ann', { size_bytes: SIZE });
    const uploadUrl = await sendUntil(13 * MIB, { endpoint: tusUrl(started) });
    const afterFirst = await offsetOf(uploadUrl);
    await sendUntil(afterFirst + 14 * MIB, { uploadUrl });
    const acknowledged = await offsetOf(uploadUrl);
    expect(acknowledged).toBeGreaterThan(afterFirst);
    await sendUntil(acknowledged + 20 * MIB, { uploadUrl });
    await first.end('SIGKILL');
    // The lease of a killed process expires after ten seconds.
    const kept = await eventually(
      () => offsetOf(atSecond(uploadUrl)),
      (offset) => offset > 0,
    );
    expect(kept).toBeGreaterThanOrEqual(acknowledged);
    await sendUntil(SIZE, { uploadUrl: atSecond(uploadUrl) });
    await expectStored(started.asset_id);
    expect(await traces(started.asset_id)).toHaveLength(1);
  });

  test('end with their bytes when their asset is deleted while a request sends more', async () => {
    const started = await openUpload(second, 'ann', { size_bytes: SIZE });
    const id = started.asset_id;
    const url = await create(started, SIZE);
    await patch(url, 0, content.subarray(0, 9 * MIB));
    const socket = await beginPatch(url, { offset: 9 * MIB, length: SIZE - 9 * MIB });
    const ended = once(socket.on('error', () => undefined).resume(), 'close');
    await new Promise((written) => {
      socket.write(content.subarray(9 * MIB, 20 * MIB), written);
    });
    await call(second, `DELETE /media/${id}`, { headers: asUser('ann') });
    const deletedAt = performance.now();
    await ended;
    expect(performance.now() - deletedAt).toBeLessThan(10_000);
    await eventually(
      () => traces(id),
      (keys) => keys.length === 0,
    );
    expect((await send(`HEAD ${url}`)).status).toBe(404);
  });

  test('keep their bytes when orphans are removed, and lose them with their asset', async () => {
    const started = await openUpload(second, 'ann', { size_bytes: SIZE });
    const id = started.asset_id;
    const url = await create(started, SIZE);
    await patch(url, 0, content.subarray(0, 9 * MIB));
    const parts = await traces(id);
    expect(parts).toHaveLength(2);
    await runStorageCheck(second, REMOVE_ORPHANS);
    expect(await traces(id)).toEqual(parts);
    expect((await patch(url, 9 * MIB, content.subarray(9 * MIB, 10 * MIB))).status).toBe(204);
    await call(second, `DELETE /media/${id}`, { headers: asUser('ann') });
    await eventually(
      () => traces(id),
      (keys) => keys.length === 0,
    );
  });
});
