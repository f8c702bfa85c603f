// A service backs itself up to a bucket. Another machine is restored from the bucket alone.
import { execFile } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { DeleteObjectCommand, ListObjectsV2Command, PutObjectCommand } from '@aws-sdk/client-s3';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { ffmpegPath, makeClip } from '../support/clips/clips.ts';
import { CLEAN, decode } from '../support/clips/picture-and-sound.ts';
import { type AssetJson, ingest, openUpload, putBytes } from '../support/media.ts';
import { asUser, call } from '../support/service.ts';
import { newDatabaseDir } from '../support/service/data-folders.ts';
import { endAllIn, type ServiceProcess, startProcess } from '../support/service/service-process.ts';
import { ACCESS_KEY, SECRET_KEY } from '../support/store/ceph-rgw.ts';
import { createBucket, describeS3, type TestBucket } from '../support/store/s3.ts';

const START = resolve(import.meta.dirname, '../../service/start.js');
const SIZE = 20_000;
/** Below a prefix, and with a neighbour in the bucket. */
const PREFIX = 'backups/home';
const NEIGHBOUR = 'backups/homes/objects/of-another-service';

type Stored = { readonly id: string; readonly sha256: string };

describeS3('a bucket of backups', () => {
  let [dataDir, elsewhere, secrets]: string[] = [];
  let bucket: TestBucket;
  let service: ServiceProcess;
  let settings: Record<string, string | undefined>;
  let place: string;

  beforeAll(async () => {
    bucket = await createBucket();
    place = `s3://${bucket.location.bucket}/${PREFIX}`;
    [dataDir, secrets] = [await newDatabaseDir(), await mkdtemp(join(tmpdir(), 'mediary-secrets-'))];
    elsewhere = `${secrets}-elsewhere`;
    await writeFile(join(secrets, 'key'), `${SECRET_KEY}\n`);
    settings = {
      BACKUP_S3_ENDPOINT: inject('s3Endpoint') ?? undefined,
      BACKUP_S3_ACCESS_KEY_ID: ACCESS_KEY,
      BACKUP_S3_SECRET_ACCESS_KEY_FILE: join(secrets, 'key'),
      AWS_ACCESS_KEY_ID: undefined,
      AWS_SECRET_ACCESS_KEY: undefined,
      STORAGE_URL: undefined,
      FFMPEG_PATH: ffmpegPath(),
      LOG_LEVEL: 'info',
    };
    await put(NEIGHBOUR, Buffer.from('theirs'));
    const backups = { BACKUP_TO: place, BACKUP_LOG_EVERY_S: '1' };
    service = await startProcess({ ...settings, ...backups, DATA_DIR: dataDir });
  });
  afterAll(async () => {
    await service?.end('SIGKILL');
    for (const folder of [dataDir, elsewhere, secrets]) {
      await endAllIn(folder as string);
      await rm(folder as string, { recursive: true, force: true, maxRetries: 5 });
    }
  });

  async function run(folder: string, ...args: string[]): Promise<string> {
    const env = { PATH: process.env['PATH'], HOME: process.env['HOME'], ...settings, DATA_DIR: folder };
    const { stdout } = await promisify(execFile)(process.execPath, [START, 'backup', ...args], { env });
    return stdout;
  }

  const put = (Key: string, Body: Buffer) =>
    bucket.client.send(new PutObjectCommand({ Bucket: bucket.location.bucket, Key, Body }));

  async function keysBelow(folder: string): Promise<string[]> {
    const at = { Bucket: bucket.location.bucket, Prefix: `${PREFIX}/${folder}` };
    const { Contents = [] } = await bucket.client.send(new ListObjectsV2Command(at));
    return Contents.map(({ Key = '' }) => Key);
  }

  async function upload(): Promise<Stored> {
    const bytes = randomBytes(SIZE);
    const started = await openUpload(service, 'ann', { size_bytes: SIZE });
    expect((await putBytes(started, bytes)).status).toBe(200);
    return { id: started.asset_id, sha256: createHash('sha256').update(bytes).digest('hex') };
  }

  async function originalOf(id: string): Promise<string> {
    const headers = asUser('ann');
    const { body } = await call<{ url: string }>(service, `GET /media/${id}/download-url`, { headers });
    const bytes = Buffer.from(await (await fetch(body.data.url)).arrayBuffer());
    return createHash('sha256').update(bytes).digest('hex');
  }

  const logTime = async () => {
    const { body } = { body: await (await fetch(new URL('/metrics', service.url))).text() };
    return Number(/^mediary_backup_log_last_success_timestamp_seconds(?:\{.*\})? (\S+)$/m.exec(body)?.[1]);
  };

  test('is all that a new machine needs: what was backed up under uploads plays there', async () => {
    await expect.poll(() => service.log(), { timeout: 120_000 }).toContain('the backup was completed');
    const film = await ingest(service, 'ann', { file: await makeClip({ seconds: 2 }) });
    expect(film.stream_status).toBe('ready');
    const before = [await upload(), await upload()];
    const during: Stored[] = [];
    let isDone = false;
    const uploading = (async () => {
      while (!isDone) during.push(await upload());
    })();
    const report = await run(dataDir as string, 'create', '--to', place);
    isDone = true;
    await uploading;
    expect(report).toMatch(/objects .*; [1-9]\d* of them are new/);
    expect(during.length).toBeGreaterThan(0);
    const lastMs = Date.now();
    await expect.poll(logTime, { timeout: 60_000 }).toBeGreaterThan(lastMs / 1000 + 1);
    await service.end('SIGKILL');
    await endAllIn(dataDir as string);
    await rm(dataDir as string, { recursive: true, force: true, maxRetries: 5 });

    expect(await run(elsewhere as string, 'verify', '--from', place)).toContain('is complete');
    const restored = await run(elsewhere as string, 'restore', '--from', place, '--to-time', 'latest');
    expect(restored).toContain('its last change is of');
    service = await startProcess({ ...settings, DATA_DIR: elsewhere });
    for (const { id, sha256 } of before) expect(await originalOf(id)).toBe(sha256);
    // The log has every upload; those after the snapshot have no bytes in the backup.
    for (const { id } of during)
      expect((await call<AssetJson>(service, `GET /media/${id}`, { headers: asUser('ann') })).status).toBe(
        200,
      );
    const { body } = await call<{ hls: string }>(service, `GET /media/${film.id}/playback`, {
      headers: asUser('ann'),
    });
    expect(await decode(body.data.hls)).toEqual(CLEAN);
  }, 300_000);

  test('gets what is new alone, and loses what no kept snapshot needs', async () => {
    const folder = elsewhere as string;
    await run(folder, 'create', '--to', place);
    const objects = await keysBelow('objects/');
    const files = await keysBelow('database/');
    const again = await run(folder, 'create', '--to', place, '--keep', '1');
    expect(again).toContain('; 0 of them are new');
    expect(await keysBelow('objects/')).toEqual(objects);
    expect(await keysBelow('snapshots/')).toHaveLength(1);
    expect(await keysBelow('listings/')).toHaveLength(1);
    expect((await keysBelow('database/')).length).toBeLessThanOrEqual(files.length);
    expect(await run(folder, 'verify', '--from', place)).toContain('is complete');
    expect(await run(folder, 'verify', '--from', place, '--quick')).toContain('is complete');
    const { Contents = [] } = await bucket.client.send(
      new ListObjectsV2Command({ Bucket: bucket.location.bucket, Prefix: NEIGHBOUR }),
    );
    expect(Contents).toHaveLength(1);
  }, 180_000);

  test('shows damage: of one object, of one that is gone, and of the database', async () => {
    const folder = elsewhere as string;
    const [object = '', gone = ''] = await keysBelow('objects/originals/');
    const [database = ''] = await keysBelow('database/');
    await put(object, randomBytes(SIZE));
    await put(database, Buffer.from('x'));
    await bucket.client.send(new DeleteObjectCommand({ Bucket: bucket.location.bucket, Key: gone }));
    for (const more of [[], ['--quick']]) {
      const failure = await run(folder, 'verify', '--from', place, ...more).catch((error: Error) => error);
      expect(String(failure)).toContain('3 files of');
      for (const key of [object, gone, database])
        expect(String(failure)).toContain(`s3://${bucket.location.bucket}/${key}`);
    }
    await expect(run(`${folder}-2`, 'restore', '--from', place)).rejects.toThrow(/is missing|other bytes/);
    await rm(`${folder}-2`, { recursive: true, force: true });
    expect(await run(folder, 'create', '--to', place)).toMatch(/; 2 of them are new/);
    expect(await run(folder, 'verify', '--from', place)).toContain('is complete');
  }, 180_000);

  test('is named with its problem, in the log too, and the service starts without it', async () => {
    const missing = `${place.replace(bucket.location.bucket, `${bucket.location.bucket}-missing`)}`;
    const problem = 'does not work: the bucket does not exist';
    await expect(run(elsewhere as string, 'list', '--from', missing)).rejects.toThrow(problem);
    await expect(run(elsewhere as string, 'list', '--from', 's3://No Bucket')).rejects.toThrow(
      'is not a bucket for backups. Expected s3://<bucket> or s3://<bucket>/<prefix>',
    );
    await service.end('SIGTERM');
    service = await startProcess({ ...settings, BACKUP_TO: missing, DATA_DIR: elsewhere });
    await expect.poll(() => service.log(), { timeout: 60_000 }).toContain(problem);
    expect((await upload()).id).toMatch(/./);
  });
});
