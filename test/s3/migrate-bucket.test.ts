// An operator moves a private bucket: its names are escaped and signed, and the list has several pages.
import { readFile } from 'node:fs/promises';
import { PutObjectCommand } from '@aws-sdk/client-s3';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeClip } from '../support/clips/clips.ts';
import { makeSmallPng } from '../support/encoding/processed-assets.ts';
import { expectSuccess } from '../support/http/envelope.ts';
import type { AssetJson } from '../support/media.ts';
import { runCli } from '../support/service/cli.ts';
import { asUser, call, startTestService, type TestService, tokenOf } from '../support/service.ts';
import { ACCESS_KEY, SECRET_KEY } from '../support/store/ceph-rgw.ts';
import { createBucket, describeS3, type TestBucket } from '../support/store/s3.ts';

/** One more than a page of the list. */
const OTHER_FILES = 1001;
const FILM = "films/It's (1) größer+.mp4";

describeS3('a bucket with films, captions and other files', () => {
  let bucket: TestBucket;
  let service: TestService;
  let film: Buffer;
  beforeAll(async () => {
    bucket = await createBucket();
    film = await readFile(await makeClip({ seconds: 2 }));
    const put = (Key: string, Body: Buffer | string) =>
      bucket.client.send(new PutObjectCommand({ Bucket: bucket.location.bucket, Key, Body }));
    await put(FILM, film);
    await put(FILM.replace('.mp4', '.de.vtt'), 'WEBVTT\n\n00:00.000 --> 00:01.000\nGuten Tag\n');
    await put('films/poster.png', await makeSmallPng());
    await put('films/broken.mp4', 'no film');
    await put('elsewhere/other.png', await makeSmallPng());
    for (let index = 0; index < OTHER_FILES; index += 100)
      await Promise.all(
        Array.from({ length: Math.min(100, OTHER_FILES - index) }, (_, offset) =>
          put(`films/notes/${String(index + offset).padStart(4, '0')}.txt`, 'x'),
        ),
      );
    service = await startTestService({ OUTBOUND_ALLOW_PRIVATE: 'import' });
  });
  afterAll(() => service?.stop());

  async function reportOf(command: string, exitCode = 0) {
    const { bucket: name, endpoint } = bucket.location;
    const url = `s3://${name}?endpoint=${endpoint}&prefix=films/`;
    const args = ['migrate', ...command.split(' '), '--from', 'bucket', '--bucket', url, '--json'];
    const { code, stdout, stderr } = await runCli(args, {
      folder: service.dataDir,
      env: {
        AWS_ACCESS_KEY_ID: ACCESS_KEY,
        AWS_SECRET_ACCESS_KEY: SECRET_KEY,
        MEDIARY_URL: service.address,
        MEDIARY_TOKEN: tokenOf('ann'),
      },
    });
    expect(code, stderr).toBe(exitCode);
    return JSON.parse(stdout);
  }

  test('is moved by signed URLs, with captions beside the films; what is no film fails', async () => {
    const plan = await reportOf('plan');
    expect(plan.counts).toMatchObject({ new_count: 3, not_movable_count: OTHER_FILES });
    const { items } = await reportOf('run --wait', 1);
    const externalId = `bucket:${bucket.location.bucket}/${FILM}`;
    expect(items).toContainEqual(
      expect.objectContaining({ external_id: externalId, result: 'imported', size_bytes: film.length }),
    );
    const broken = items.find(({ title }: { title: string }) => title === 'broken');
    expect(broken).toMatchObject({ result: 'failed', reason: expect.stringMatching(/^type_mismatch: /) });

    const path = `GET /media?external_id=${encodeURIComponent(externalId)}`;
    const page = expectSuccess(await call(service, path, { headers: asUser('ann') }));
    const [asset] = (page as { items: AssetJson[] }).items;
    expect(asset).toMatchObject({
      ...{ title: "It's (1) größer+", filename: "It's (1) größer+.mp4", visibility: 'private' },
      ...{ stream_status: 'ready', size_bytes: film.length },
    });
    const captions = await call(service, `GET /media/${asset?.id}/captions`, { headers: asUser('ann') });
    expect(expectSuccess(captions)).toMatchObject({ items: [{ language: 'de' }] });

    const verified = await reportOf('verify', 1);
    expect(verified.counts).toMatchObject({ equal_count: 2, failed_count: 1, missing_count: 0 });
    expect((await reportOf('run', 1)).counts).toMatchObject({ imported_count: 0, existing_count: 2 });
  });
});
