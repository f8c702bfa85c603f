// The whole service on an S3 store: a video and an image are ingested, played, downloaded and deleted.
import { createHash, randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ListMultipartUploadsCommand, ListObjectsV2Command } from '@aws-sdk/client-s3';
import sharp from 'sharp';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { attachment } from '../../service/src/platform/http/headers.ts';
import { uploadKey } from '../../service/src/storage/object-key.ts';
import { makeClip } from '../support/clips/clips.ts';
import {
  type AssetJson,
  complete,
  IMAGE,
  openUpload,
  putBytes,
  servicePut,
  settled,
  VIDEO,
} from '../support/media.ts';
import { CLEAN, decode } from '../support/clips/picture-and-sound.ts';
import { createBucket, describeS3, type TestBucket } from '../support/store/s3.ts';
import { TEST_DATA } from '../support/clips/test-data.ts';
import { asUser, call, eventually, startTestService, type TestService } from '../support/service.ts';
import { keysOf, REMOVE_ORPHANS, runStorageCheck } from '../support/service/storage-check.ts';

type Playback = { hls: string; dash: string; thumbnail: string; image: string };

const sha256Of = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');

describeS3('a service with an S3 store', () => {
  let bucket: TestBucket;
  let service: TestService;
  let clip: Buffer;
  let picture: Buffer;
  let video: AssetJson;
  let image: AssetJson;
  let playback: Playback;

  beforeAll(async () => {
    bucket = await createBucket({ parameters: '&prefix=media' });
    service = await startTestService({ STORAGE_URL: bucket.url });
    clip = await readFile(await makeClip({ seconds: 6, width: 854, height: 480, flashAndBeep: true }));
    picture = await sharp({ create: { width: 1200, height: 800, channels: 3, background: '#c04020' } })
      .png()
      .toBuffer();
    [video, image] = await Promise.all([
      ingested(clip, { ...VIDEO, size_bytes: clip.length, visibility: 'public' }),
      ingested(picture, { ...IMAGE, visibility: 'public' }),
    ]);
    const answer = await call<Playback>(service, `GET /media/${video.id}/playback`, {
      headers: asUser('ann'),
    });
    playback = answer.body.data;
  }, 240_000);
  afterAll(() => service?.stop());

  async function ingested(bytes: Buffer, fields: object): Promise<AssetJson> {
    const started = await openUpload(service, 'ann', fields);
    expect((await putBytes(started, bytes)).status).toBe(200);
    expect((await complete(service, 'ann', started.asset_id)).status).toBe(200);
    return settled(service, 'ann', started.asset_id);
  }

  const keys = async () => {
    const { Contents = [] } = await bucket.client.send(
      new ListObjectsV2Command({ Bucket: bucket.location.bucket }),
    );
    return Contents.map(({ Key = '' }) => Key).filter((key) => !key.includes('/health/'));
  };

  test('stores its objects below the prefix', async () => {
    expect(video).toMatchObject({ stream_status: 'ready', checksum_sha256: sha256Of(clip), warnings: [] });
    expect(image).toMatchObject({ stream_status: 'ready', checksum_sha256: sha256Of(picture) });
    const stored = await keys();
    expect(stored.filter((key) => !key.startsWith('media/'))).toEqual([]);
    for (const id of [video.id, image.id])
      expect(stored.some((key) => key.startsWith(`media/originals/${id}/`))).toBe(true);
  });

  test('is ready, and keeps no objects on its disk', async () => {
    const { status } = await fetch(`${service.address}/readyz?for=jobs`);
    expect(status).toBe(200);
    expect(service.adapters.locations.store).toBe(`s3://${bucket.location.bucket}/media/`);
  });

  test('plays the video over HLS and DASH', async () => {
    for (const url of [playback.hls, playback.dash]) expect(await decode(url), url).toEqual(CLEAN);
  });

  test('serves ranges, validators and HEAD of segments', async () => {
    const whole = await fetch(playback.thumbnail);
    const bytes = Buffer.from(await whole.arrayBuffer());
    expect(whole.headers.get('content-length')).toBe(String(bytes.length));
    const part = await fetch(playback.thumbnail, { headers: { range: 'bytes=10-19' } });
    expect([part.status, part.headers.get('content-range')]).toEqual([206, `bytes 10-19/${bytes.length}`]);
    expect(Buffer.from(await part.arrayBuffer())).toEqual(bytes.subarray(10, 20));
    const etag = whole.headers.get('etag') ?? '';
    expect((await fetch(playback.thumbnail, { headers: { 'if-none-match': etag } })).status).toBe(304);
    const head = await fetch(playback.thumbnail, { method: 'HEAD' });
    expect(head.headers.get('content-length')).toBe(String(bytes.length));
  });

  test('makes image variants and posters once', async () => {
    for (const { id } of [video, image]) {
      const url = `${service.url}/playback/${id}/image?w=320&format=webp`;
      const [first, second] = [await fetch(url), await fetch(url)];
      expect([first.status, second.status]).toEqual([200, 200]);
      const metadata = await sharp(await first.arrayBuffer()).metadata();
      expect(metadata).toMatchObject({ format: 'webp', width: 320 });
    }
    expect((await keys()).filter((key) => /\/variants\/.*\.webp$/.test(key))).toHaveLength(2);
  });

  test('a new poster is made from the stored renditions', async () => {
    await call(service, `PATCH /media/${video.id}`, {
      headers: asUser('ann'),
      json: { poster_time_ms: 3000 },
    });
    await eventually(
      async () => (await keys()).filter((key) => key.endsWith('/poster-3000.jpg')),
      (found) => found.length === 1,
    );
  });

  const downloadOf = async (id: string) =>
    (
      await call<{ url: string; expires_at: string }>(service, `GET /media/${id}/download-url`, {
        headers: asUser('ann'),
      })
    ).body.data;

  test('the store itself serves downloads, under names of any length', async () => {
    const filename = `${'Ü🎬'.repeat(125)}.mp4`;
    const started = await openUpload(service, 'ann', { ...VIDEO, filename });
    const missing = await call(service, `GET /media/${started.asset_id}/download-url`, {
      headers: asUser('ann'),
    });
    expect([missing.status, missing.body.error.details]).toEqual([
      404,
      expect.objectContaining({ reason: 'not_uploaded' }),
    ]);
    expect((await putBytes(started, clip)).status).toBe(200);
    const { url, expires_at: expires } = await downloadOf(started.asset_id);
    expect(new URL(url).origin).toBe(bucket.location.endpoint);
    expect(Math.abs(Date.parse(expires) - Date.now() - 3_600_000)).toBeLessThan(60_000);
    const { status, headers } = await fetch(url, { headers: { range: 'bytes=0-9' } });
    expect([status, headers.get('content-type')]).toEqual([206, 'video/mp4']);
    expect(headers.get('content-disposition')).toBe(attachment(filename));
  });

  test('an original larger than a part comes back whole, and in ranges', async () => {
    const large = Buffer.concat([clip, Buffer.alloc(20 * 1024 ** 2, 'padding of a film')]);
    const started = await openUpload(service, 'ann', { ...VIDEO, size_bytes: large.length });
    expect((await putBytes(started, large)).status).toBe(200);
    const { url } = await downloadOf(started.asset_id);
    const whole = await fetch(url);
    expect(whole.headers.get('content-disposition')).toContain('clip.mp4');
    expect(sha256Of(Buffer.from(await whole.arrayBuffer()))).toBe(sha256Of(large));
    const part = await fetch(url, { headers: { range: 'bytes=9000000-18000000' } });
    expect(part.status).toBe(206);
    expect(large.subarray(9_000_000, 18_000_001).equals(Buffer.from(await part.arrayBuffer()))).toBe(true);
  });

  test('an interrupted upload leaves nothing, and can be repeated', async () => {
    const started = await openUpload(service, 'ann', { ...VIDEO, size_bytes: 30 * 1024 ** 2 });
    const cut = new AbortController();
    const sending = fetch(servicePut(started).url, {
      method: 'PUT',
      headers: { 'content-type': 'video/mp4', 'content-length': String(30 * 1024 ** 2) },
      body: new ReadableStream({
        async pull(controller) {
          controller.enqueue(new Uint8Array(10 * 1024 ** 2));
          if (await hasUnfinished()) cut.abort();
        },
      }),
      signal: cut.signal,
      duplex: 'half',
    } as RequestInit);
    await expect(sending).rejects.toThrow();
    await eventually(hasUnfinished, (has) => !has);
    expect((await keys()).filter((key) => key.includes(started.asset_id))).toEqual([]);
  });

  const hasUnfinished = async () => {
    const { Uploads = [] } = await bucket.client.send(
      new ListMultipartUploadsCommand({ Bucket: bucket.location.bucket }),
    );
    return Uploads.length > 0;
  };

  test('finds and removes orphaned objects', async () => {
    const orphan = uploadKey(randomUUID(), randomUUID());
    await service.adapters.store.put(orphan, once(Buffer.from('orphan')), 6);
    expect(keysOf(await runStorageCheck(service))).toEqual([orphan]);
    await runStorageCheck(service, REMOVE_ORPHANS);
    expect(await service.adapters.store.size(orphan)).toBeUndefined();
    expect((await runStorageCheck(service)).findings).toEqual([]);
  });

  test.skipIf(!TEST_DATA)(
    'a collected film and a collected photo become ready',
    async () => {
      const read = (file: string) => readFile(join(TEST_DATA ?? '', file));
      const photo = { ...IMAGE, filename: 'photo.jpg', mime_type: 'image/jpeg' };
      const assets = await Promise.all([
        read('video-bbb/mp4ff/mp4/testdata/bbb_prog_10s.mp4').then((film) => ingested(film, VIDEO)),
        read('exif-orientation/Landscape_6.jpg').then((bytes) => ingested(bytes, photo)),
      ]);
      for (const asset of assets) expect(asset).toMatchObject({ stream_status: 'ready', failure: null });
      const { body } = await call<Playback>(service, `GET /media/${assets[0].id}/playback`, {
        headers: asUser('ann'),
      });
      expect(await decode(body.data.hls)).toEqual(CLEAN);
    },
    180_000,
  );

  test('a deleted asset has no objects any more', async () => {
    for (const { id } of [video, image])
      await call(service, `DELETE /media/${id}`, { headers: asUser('ann') });
    await eventually(
      async () => (await keys()).filter((key) => key.includes(video.id) || key.includes(image.id)),
      (left) => left.length === 0,
    );
  });
});

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}
