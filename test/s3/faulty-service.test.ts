// On a faulty S3 store the service answers 503 with Retry-After or repeats the job; nothing is lost.
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { ListObjectsV2Command } from '@aws-sdk/client-s3';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { makeClip } from '../support/clips/clips.ts';
import { type FaultyS3, isGet, isPut, type S3Request, startFaultyS3 } from '../support/store/faulty-s3.ts';
import {
  type AssetJson,
  complete,
  openUpload,
  putBytes,
  readAsset,
  settled,
  VIDEO,
} from '../support/media.ts';
import { CLEAN, decode } from '../support/clips/picture-and-sound.ts';
import { createBucket, describeS3, reachedBy, type TestBucket } from '../support/store/s3.ts';
import { asUser, call, eventually, startTestService, type TestService } from '../support/service.ts';

describeS3('a service with a faulty S3 store', () => {
  let bucket: TestBucket;
  let proxy: FaultyS3;
  let service: TestService;
  let clip: Buffer;
  beforeAll(async () => {
    bucket = await createBucket();
    proxy = await startFaultyS3(bucket.location.endpoint ?? '');
    service = await startTestService({
      STORAGE_URL: reachedBy(bucket, proxy.url, '&direct=false').url,
      LOG_LEVEL: 'error',
    });
    clip = await readFile(await makeClip({ seconds: 4, width: 426, height: 240, flashAndBeep: true }));
  });
  afterEach(() => proxy?.heal());
  afterAll(async () => {
    await service?.stop();
    await proxy?.stop();
  });

  const uploaded = async (bytes: Buffer, fields: object = {}): Promise<string> => {
    const started = await openUpload(service, 'ann', { ...VIDEO, size_bytes: bytes.length, ...fields });
    expect((await putBytes(started, bytes)).status).toBe(200);
    return started.asset_id;
  };
  const keysOf = async (id: string) => {
    const { Contents = [] } = await bucket.client.send(
      new ListObjectsV2Command({ Bucket: bucket.location.bucket }),
    );
    return Contents.map(({ Key = '' }) => Key).filter((key) => key.includes(id));
  };
  const expectUnavailable = ({ status, headers }: { status: number; headers: Headers }) =>
    expect([status, headers.get('retry-after')]).toEqual([503, expect.stringMatching(/^\d+$/)]);
  const below = (kind: string) => (request: S3Request) => request.path.includes(`/${kind}/`);

  test('an upload that cannot be stored is answered 503, and can be repeated', async () => {
    const started = await openUpload(service, 'ann', { ...VIDEO, size_bytes: clip.length });
    proxy.fail('busy', isPut);
    const refused = await putBytes(started, clip);
    expectUnavailable(refused);
    expect(refused.body.error.error_code).toBe('UNAVAILABLE');
    proxy.heal();
    expect(await keysOf(started.asset_id)).toEqual([]);
    expect((await putBytes(started, clip)).body.data).toMatchObject({
      checksum_sha256: createHash('sha256').update(clip).digest('hex'),
    });
  });

  test('an upload whose stored bytes changed on their way is answered 503', async () => {
    const started = await openUpload(service, 'ann', { ...VIDEO, size_bytes: clip.length });
    proxy.fail('corrupt', isPut);
    expectUnavailable(await putBytes(started, clip));
    proxy.heal();
    expect(await keysOf(started.asset_id)).toEqual([]);
  });

  test('an upload whose confirmation from the store is lost is stored', async () => {
    proxy.fail('lost', isPut, 1);
    const id = await uploaded(clip);
    expect(await keysOf(id)).toHaveLength(1);
  });

  async function expectCompletionAfter503(id: string): Promise<void> {
    expectUnavailable(await complete(service, 'ann', id));
    expect((await readAsset(service, 'ann', id)).stream_status).toBe('pending_upload');
    proxy.heal();
    expect((await complete(service, 'ann', id)).status).toBe(200);
    expect(await settled(service, 'ann', id)).toMatchObject({ stream_status: 'ready' });
  }

  test('complete is answered 503 while the store cannot be read, and then works', async () => {
    const id = await uploaded(clip);
    proxy.fail('busy', isGet);
    await expectCompletionAfter503(id);
  });

  test('complete is answered 503 while the store stalls in a response, and then works', async () => {
    const id = await uploaded(clip);
    let reads = 0;
    // The first read is that of the magic bytes.
    proxy.fail('stalled', (request) => isGet(request) && ++reads > 1);
    await expectCompletionAfter503(id);
  });

  test('an encode repeats until the store takes its files, and the stream is whole', async () => {
    const id = await uploaded(clip, { visibility: 'public' });
    proxy.fail('cut', (request) => isGet(request) && below('originals')(request), 6);
    proxy.fail('busy', (request) => isPut(request) && below('renditions')(request), 20);
    expect((await complete(service, 'ann', id)).status).toBe(200);
    expect(await settled(service, 'ann', id)).toMatchObject({ stream_status: 'ready', warnings: [] });
    expect(
      proxy.requests.filter((request) => isPut(request) && below('renditions')(request)).length,
    ).toBeGreaterThan(20);
    expect(await decode(`${service.url}/playback/${id}/hls.m3u8`)).toEqual(CLEAN);
  }, 180_000);

  test('files that cannot be read are answered 503, large ones too, and cut ones continue', async () => {
    const large = Buffer.concat([clip, Buffer.alloc(12 * 1024 ** 2, 'padding')]);
    const id = await uploaded(large);
    const { body } = await call<{ url: string }>(service, `GET /media/${id}/download-url`, {
      headers: asUser('ann'),
    });
    const download = () => fetch(body.data.url);
    proxy.fail('busy', isGet);
    expectUnavailable(await download());
    proxy.heal();
    proxy.fail('busy', isGet);
    const refused = await fetch(body.data.url, { headers: { range: 'bytes=5000000-' } });
    expectUnavailable(refused);
    expect(((await refused.json()) as AssetJson)['success']).toBe(false);
    proxy.heal();
    proxy.fail('cut', isGet, 3);
    expect(large.equals(Buffer.from(await (await download()).arrayBuffer()))).toBe(true);
    expect(proxy.requests.filter(isGet)).toHaveLength(4);
  });

  test('readiness for uploads follows the store', async () => {
    const ready = async (purpose = 'uploads') => fetch(`${service.address}/readyz?for=${purpose}`);
    expect((await ready()).status).toBe(200);
    proxy.fail('busy');
    // A result is kept for a second.
    expectUnavailable(await eventually(ready, ({ status }) => status !== 200));
    expect((await ready('serving')).status).toBe(200);
    proxy.heal();
    expect((await eventually(ready, ({ status }) => status === 200)).status).toBe(200);
  });

  test('a deletion is answered at once, and its objects are removed when the store is back', async () => {
    const id = await uploaded(clip);
    proxy.fail('busy');
    const deleted = await call(service, `DELETE /media/${id}`, { headers: asUser('ann') });
    expect(deleted.status).toBe(200);
    await eventually(
      async () => proxy.requests.length,
      (count) => count > 0,
    );
    proxy.heal();
    await eventually(
      () => keysOf(id),
      (keys) => keys.length === 0,
    );
  });
});
