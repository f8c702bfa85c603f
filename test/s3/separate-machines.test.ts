// An API and two workers share only a database and a bucket; one worker is killed.
import { existsSync } from 'node:fs';
import { readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { ListObjectsV2Command } from '@aws-sdk/client-s3';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '@mediary/embedded-postgres/launcher';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ACCESS_KEY, SECRET_KEY } from '../support/ceph-rgw.ts';
import { makeClip, pacedEngine } from '../support/clips.ts';
import { complete, openUpload, putBytes, readAsset, settled } from '../support/media.ts';
import { CLEAN, decode } from '../support/picture-and-sound.ts';
import { createBucket, describeS3, type TestBucket } from '../support/s3.ts';
import { asUser, call, eventually, newDataDir } from '../support/service.ts';
import {
  endAllIn,
  type ServiceProcess,
  sharedBy,
  startProcess,
  workerOf,
} from '../support/service-process.ts';
import { encodersOf } from '../support/traces.ts';

describeS3('processes on separate machines', () => {
  let folders: string[];
  let bucket: TestBucket;
  let postgres: EmbeddedPostgres;
  let api: ServiceProcess;
  let workers: ServiceProcess[];

  beforeAll(async () => {
    folders = await Promise.all([newDataDir(), newDataDir(), newDataDir(), newDataDir()]);
    const [databaseDir = '', apiDir = '', ...workerDirs] = folders;
    bucket = await createBucket();
    postgres = await startEmbeddedPostgres(databaseDir);
    const shared = {
      ...sharedBy({ postgres, dataDir: apiDir, ffmpegPath: await pacedEngine() }),
      STORAGE_URL: bucket.url,
      AWS_ACCESS_KEY_ID: ACCESS_KEY,
      AWS_SECRET_ACCESS_KEY: SECRET_KEY,
    };
    api = await startProcess({ ...shared, MEDIARY_ROLE: 'api' });
    workers = await Promise.all(
      workerDirs.map((dataDir) => startProcess(workerOf({ ...shared, DATA_DIR: dataDir }, api))),
    );
  }, 120_000);

  afterAll(async () => {
    if (!api) return;
    await Promise.all([api, ...workers].map((process) => process.end('SIGKILL')));
    await Promise.all(folders.slice(1).map(endAllIn));
    await postgres.stop();
    await Promise.all(folders.map((folder) => rm(folder, { recursive: true, force: true, maxRetries: 5 })));
  });

  test('finish a video of which one worker was killed, once, and keep nothing on their disks', async () => {
    const started = await openUpload(api, 'ann', { visibility: 'public' });
    const id = started.asset_id;
    await putBytes(started, await readFile(await makeClip({ seconds: 12 })));
    expect((await complete(api, 'ann', id)).status).toBe(200);
    await eventually(
      () => readAsset(api, 'ann', id),
      ({ progress }) => progress > 0,
    );
    // Between two phases no ffmpeg runs.
    const busy = await eventually(
      () => findEncoder(workers, id),
      (worker) => worker !== undefined,
    );
    await busy?.end('SIGKILL');
    expect(await settled(api, 'ann', id)).toMatchObject({ stream_status: 'ready', warnings: [] });

    const { body } = await call<{ hls: string }>(api, `GET /media/${id}/playback`, {
      headers: asUser('ann'),
    });
    expect(await decode(body.data.hls)).toEqual(CLEAN);
    const { Contents = [] } = await bucket.client.send(
      new ListObjectsV2Command({ Bucket: bucket.location.bucket, Prefix: `renditions/${id}/` }),
    );
    expect(new Set(Contents.map(({ Key = '' }) => Key.split('/')[2])).size).toBe(1);
    const survivors = folders.slice(2).filter((_, index) => workers[index] !== busy);
    for (const folder of survivors) expect(await readdir(join(folder, 'scratch'))).toEqual([]);
    expect(folders.filter((folder) => existsSync(join(folder, 'objects')))).toEqual([]);
  }, 240_000);
});

async function findEncoder(
  workers: readonly ServiceProcess[],
  assetId: string,
): Promise<ServiceProcess | undefined> {
  const encoders = await encodersOf(assetId);
  return workers.find(({ pid }) => encoders.has(pid));
}
