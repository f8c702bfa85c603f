// The SDK sends files straight to an S3 store, and continues in parts where an upload stopped.
import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createMediary, type Mediary, type UploadProgress } from '@mediary/client';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeClip } from '../support/clips/clips.ts';
import { createBucket, describeS3 } from '../support/store/s3.ts';
import { startTestService, type TestService, tokenOf } from '../support/service.ts';

const MIB = 1024 ** 2;

describeS3('the SDK with an S3 store', () => {
  let service: TestService;
  let media: Mediary['media'];
  let clip: Buffer;
  beforeAll(async () => {
    service = await startTestService({
      STORAGE_URL: (await createBucket()).url,
      MULTIPART_UPLOAD_BYTES: String(8 * MIB),
    });
    ({ media } = createMediary({ baseUrl: service.address, token: tokenOf('ann') }));
    clip = await readFile(await makeClip({ seconds: 1 }));
  });
  afterAll(() => service?.stop());

  test('sends a small file by a presigned PUT with its checksum', async () => {
    const asset = await media.upload(new Blob([clip]), { filename: 'clip.mp4', checksum: true });
    expect(await media.waitUntilReady(asset.id)).toMatchObject({ size_bytes: clip.length });
  });

  test('sends a large file in parts; the next call sends what is missing', async () => {
    const film = new File([clip, randomBytes(40 * MIB)], 'film.mp4', { lastModified: 1 });
    const controller = new AbortController();
    const onProgress = ({ bytesSent }: UploadProgress) => {
      if (bytesSent > 30 * MIB) controller.abort(new Error('paused'));
    };
    await expect(media.upload(film, { signal: controller.signal, onProgress })).rejects.toThrow('paused');
    const sent: number[] = [];
    const asset = await media.upload(film, { onProgress: (step) => sent.push(step.bytesSent) });
    expect(sent.find((bytes) => bytes > 0)).toBeGreaterThanOrEqual(8 * MIB);
    expect((await media.list({ q: 'film' }).page()).items).toHaveLength(1);
    expect(await media.waitUntilReady(asset.id)).toMatchObject({ size_bytes: film.size });
  });
});
