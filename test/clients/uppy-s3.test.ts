// Uppy in Chromium uploads straight to an S3 store: small files in one request, large ones in parts.
import { randomBytes } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CreateBucketCommand, PutBucketCorsCommand, S3Client } from '@aws-sdk/client-s3';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type BreakingProxy, startBreakingProxy } from '../support/http/breaking-proxy.ts';
import { missingS3Server, type S3Server, startS3Server } from '../support/store/ceph-rgw.ts';
import { complete, openUpload, settled } from '../support/media.ts';
import { makeClip } from '../support/clips/clips.ts';
import { asUser, call, startTestService, type TestService } from '../support/service.ts';
import { openUppyPage, type UppyPage } from './uppy-page.ts';

const MIB = 1024 * 1024;
const CUTS = 3;

describe.skipIf(missingS3Server() !== undefined)('Uppy with an S3 store', () => {
  let server: S3Server;
  let proxy: BreakingProxy;
  let page: UppyPage;
  let service: TestService;
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'mediary-uppy-'));
    server = await startS3Server();
    proxy = await startBreakingProxy(Number(new URL(server.endpoint).port));
    page = await openUppyPage();
    await createBucket(server.endpoint, page.origin);
    service = await startTestService({
      STORAGE_URL: `s3://media?endpoint=${server.endpoint}&public_endpoint=${proxy.origin}`,
      CORS_ORIGINS: page.origin,
      MULTIPART_UPLOAD_BYTES: String(10 * MIB),
    });
  });
  afterAll(async () => {
    await page?.close();
    await service?.stop();
    proxy?.close();
    await server?.stop();
    await rm(folder, { recursive: true, force: true });
  });

  /** As `npm run storage -- check` prints the rules. */
  async function createBucket(endpoint: string, origin: string): Promise<void> {
    const client = new S3Client({ region: 'us-east-1', endpoint, forcePathStyle: true });
    await client.send(new CreateBucketCommand({ Bucket: 'media' }));
    const rule = {
      AllowedOrigins: [origin],
      AllowedMethods: ['GET', 'PUT', 'HEAD'],
      AllowedHeaders: ['*'],
      ExposeHeaders: ['ETag'],
    };
    const CORSConfiguration = { CORSRules: [rule] };
    await client.send(new PutBucketCorsCommand({ Bucket: 'media', CORSConfiguration }));
    client.destroy();
  }

  /** A playable film; players skip the box that fills it. */
  async function writeFilm(size: number): Promise<string> {
    const clip = await readFile(await makeClip({ seconds: 1, width: 320, height: 180 }));
    const box = Buffer.alloc(8);
    box.writeUInt32BE(size - clip.length);
    box.write('free', 4);
    const file = join(folder, `film-${size}.mp4`);
    await writeFile(file, Buffer.concat([clip, box, randomBytes(size - clip.length - box.length)]));
    return file;
  }

  async function upload(size: number, protocol: string): Promise<string> {
    const started = await openUpload(service, 'ann', { size_bytes: size });
    expect(started.upload).toMatchObject({ protocol });
    await page.open(await writeFilm(size));
    expect(await page.upload(started.upload as object)).toEqual({ uploaded: 1, errors: [] });
    return started.asset_id;
  }

  async function expectReady(id: string, size: number): Promise<void> {
    await complete(service, 'ann', id);
    expect(await settled(service, 'ann', id)).toMatchObject({ stream_status: 'ready', size_bytes: size });
    const { body } = await call(service, `GET /media/${id}/download-url`, { headers: asUser('ann') });
    expect(body.data).toMatchObject({ url: expect.any(String) });
  }

  test('a small file in one request', async () => {
    const passedBefore = proxy.passed();
    await expectReady(await upload(5 * MIB, 'put'), 5 * MIB);
    expect(proxy.passed() - passedBefore, 'the bytes go to the store').toBeGreaterThan(5 * MIB);
  });

  test('a large file in parts, through broken connections', async () => {
    const size = 60 * MIB + 12_345;
    const uploaded = upload(size, 's3-multipart');
    for (let cut = 0; cut < CUTS; cut += 1) await proxy.breakAfter(size / 6);
    await expectReady(await uploaded, size);
  });
});
