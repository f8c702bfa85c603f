// An operator backs up a busy service, loses the machine, and restores the backup on another one.
import { execFile, spawn } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { appendFile, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ffmpegPath, makeClip } from '../../support/clips/clips.ts';
import { CLEAN, decode } from '../../support/clips/picture-and-sound.ts';
import { type AssetJson, ingest, openUpload, putBytes } from '../../support/media.ts';
import { asUser, call } from '../../support/service.ts';
import { newDatabaseDir } from '../../support/service/data-folders.ts';
import { endAllIn, type ServiceProcess, startProcess } from '../../support/service/service-process.ts';
import { processesNaming } from '../../support/service/traces.ts';

const START = resolve(import.meta.dirname, '../../../service/start.js');
const SIZE = 20_000;

let [dataDir, elsewhere, backup]: string[] = [];
let service: ServiceProcess;
beforeAll(async () => {
  dataDir = await newDatabaseDir();
  elsewhere = await mkdtemp(join(tmpdir(), 'mediary-restored-'));
  backup = await mkdtemp(join(tmpdir(), 'mediary-backup-'));
  service = await startProcess({ DATA_DIR: dataDir, FFMPEG_PATH: ffmpegPath(), STORAGE_URL: undefined });
});
afterAll(async () => {
  await service.end('SIGKILL');
  for (const folder of [dataDir, elsewhere, backup]) {
    await endAllIn(folder as string);
    await rm(folder as string, { recursive: true, force: true, maxRetries: 5 });
  }
});

const envOf = (folder: string) => ({
  PATH: process.env['PATH'],
  HOME: process.env['HOME'],
  DATA_DIR: folder,
});

async function run(folder: string, ...args: string[]): Promise<string> {
  const env = envOf(folder);
  const { stdout } = await promisify(execFile)(process.execPath, [START, 'backup', ...args], { env });
  return stdout;
}

function ignoreUnavailable(error: Error): undefined {
  if (!error.message.includes('503')) throw error;
}

type Stored = { readonly id: string; readonly sha256: string };

async function upload(): Promise<Stored> {
  const bytes = randomBytes(SIZE);
  const started = await openUpload(service, 'ann', { size_bytes: SIZE });
  expect((await putBytes(started, bytes)).status).toBe(200);
  return { id: started.asset_id, sha256: createHash('sha256').update(bytes).digest('hex') };
}

/**
 * Uploads until it is stopped; returns the uploads that the service has acknowledged. Beside a backup some
 * are refused for want of a connection to the database: a client tries again.
 */
function keepUploading() {
  const stored: Stored[] = [];
  let isStopped = false;
  const uploading = (async () => {
    while (!isStopped) {
      const asset = await upload().catch(ignoreUnavailable);
      if (asset) stored.push(asset);
    }
  })();
  // `stop` throws its error.
  uploading.catch(() => {});
  return {
    stored,
    stop: async () => {
      isStopped = true;
      await uploading;
    },
  };
}

async function originalOf(id: string): Promise<string> {
  const { body } = await call<{ url: string }>(service, `GET /media/${id}/download-url`, {
    headers: asUser('ann'),
  });
  const bytes = Buffer.from(await (await fetch(body.data.url)).arrayBuffer());
  return createHash('sha256').update(bytes).digest('hex');
}

test('what was acknowledged before a backup under load is there after the loss of the machine', async () => {
  const film = await ingest(service, 'ann', { file: await makeClip({ seconds: 2 }) });
  expect(film.stream_status).toBe('ready');
  const before = [await upload(), await upload(), await upload()];
  const uploads = keepUploading();
  const report = await run(dataDir as string, 'create', '--to', backup as string);
  expect(report).toMatch(/database {2}\d+ files.*\nobjects .*\nsnapshot /);
  await uploads.stop();
  expect(uploads.stored.length).toBeGreaterThan(0);
  await service.end('SIGKILL');
  await endAllIn(dataDir as string);
  expect(await run(dataDir as string, 'verify', '--from', backup as string)).toContain('is complete');

  expect(await run(elsewhere as string, 'restore', '--from', backup as string)).toContain('restored');
  service = await startProcess({ DATA_DIR: elsewhere, FFMPEG_PATH: ffmpegPath(), STORAGE_URL: undefined });
  for (const { id, sha256 } of before) expect(await originalOf(id)).toBe(sha256);
  // An upload during the backup may be missing, but never its bytes alone. Some of the many are looked at.
  for (const { id, sha256 } of uploads.stored.filter((_, place) => place % 5 === 0)) {
    const asset = await call<AssetJson>(service, `GET /media/${id}`, { headers: asUser('ann') });
    if (asset.status === 200 && asset.body.data['uploaded_at'] !== null)
      expect(await originalOf(id)).toBe(sha256);
  }
  const { body } = await call<{ hls: string }>(service, `GET /media/${film.id}/playback`, {
    headers: asUser('ann'),
  });
  expect(await decode(body.data.hls)).toEqual(CLEAN);
  expect((await ingest(service, 'ann', { file: await makeClip({ seconds: 1 }) })).stream_status).toBe(
    'ready',
  );
}, 400_000);

test('later snapshots add only new objects, and old ones are deleted on request', async () => {
  const [folder, target] = [elsewhere as string, backup as string];
  const first = await run(folder, 'create', '--to', target);
  const second = await run(folder, 'create', '--to', target, '--keep', '1');
  expect(first).toMatch(/; [1-9]\d* of them are new/);
  expect(second).toContain('; 0 of them are new');
  expect(await readdir(join(target, 'snapshots'))).toHaveLength(1);
  expect(await run(folder, 'verify', '--from', target)).toContain('is complete');
});

test('a damaged file is named, a restore never overwrites, and wrong arguments show the usage', async () => {
  const [folder, target] = [elsewhere as string, backup as string];
  await expect(run(folder, 'restore', '--from', target)).rejects.toThrow('has a database');
  const [snapshot = ''] = await readdir(join(target, 'snapshots'));
  const [name = ''] = await readdir(join(target, 'database'));
  const file = join(target, 'database', name);
  await appendFile(file, 'x');
  await expect(run(folder, 'verify', '--from', target)).rejects.toThrow(file);
  for (const args of [[], ['create'], ['restore', '--to', target], ['other']])
    await expect(run(folder, ...args)).rejects.toThrow('npm run backup -- create --to');
  await expect(run(folder, 'create', '--to', target, '--keep', '0')).rejects.toThrow('--keep');
  await expect(run(folder, 'create', '--to', join(folder, 'backup'))).rejects.toThrow('outside DATA_DIR');
  await expect(run(folder, 'verify', '--from', target, '--snapshot', 'x')).rejects.toThrow(
    snapshot.replace('.json', ''),
  );
});

test('an interrupted backup stops the database server that it started', async () => {
  const folder = elsewhere as string;
  const name = basename(folder);
  await service.end('SIGTERM');
  expect(await processesNaming(name)).toEqual([]);
  const args = [START, 'backup', 'create', '--to', `${backup}-interrupted`];
  const child = spawn(process.execPath, args, { env: envOf(folder), stdio: ['ignore', 'ignore', 'pipe'] });
  const ended = Promise.all([once(child, 'close'), text(child.stderr)]);
  await expect.poll(() => processesNaming(name), { timeout: 60_000, interval: 20 }).not.toEqual([]);
  child.kill('SIGINT');
  expect(await ended).toEqual([[1, null], expect.stringContaining('The backup was interrupted.')]);
  expect(await processesNaming(name)).toEqual([]);
  await rm(`${backup}-interrupted`, { recursive: true, force: true });
}, 120_000);

const settings = { FFMPEG_PATH: ffmpegPath(), STORAGE_URL: undefined, LOG_LEVEL: 'info' };

/** Starts a service that backs itself up, and waits for its first snapshot. */
async function startBackedUp(folder: string, scheduled: string): Promise<void> {
  const backups = { BACKUP_TO: scheduled, BACKUP_LOG_EVERY_S: '1', PURGE_GRACE_DAYS: '7' };
  service = await startProcess({ ...settings, ...backups, DATA_DIR: folder });
  await expect.poll(() => service.log(), { timeout: 120_000 }).toContain('the backup was completed');
}

test('a service backs itself up, and is restored to a moment before a mistake', async () => {
  const [folder, scheduled, target] = [elsewhere, `${backup}-scheduled`, `${elsewhere}-moment`] as const;
  await service.end('SIGTERM');
  await startBackedUp(folder as string, scheduled);
  const kept = await upload();
  const moment = new Date();
  await delay(10);
  expect((await call(service, `DELETE /media/${kept.id}`, { headers: asUser('ann') })).status).toBe(200);
  const late = await upload();
  await service.end('SIGTERM');
  await run(folder as string, 'create', '--to', scheduled);
  await rm(folder as string, { recursive: true });

  const restore = ['restore', '--from', scheduled, '--to-time'];
  await expect(run(target, ...restore, '2020-01-01T00:00:00Z')).rejects.toThrow('The backup begins after');
  await expect(run(target, ...restore, '2999-01-01T00:00:00Z')).rejects.toThrow(
    'The archived log ends before',
  );
  await expect(run(target, ...restore, 'yesterday')).rejects.toThrow('such as 2026-11-27T18:20:00Z');
  expect(await run(target, ...restore, moment.toISOString())).toContain('its last change is of');
  service = await startProcess({ ...settings, DATA_DIR: target });
  expect(await originalOf(kept.id)).toBe(kept.sha256);
  expect((await call(service, `GET /media/${late.id}`, { headers: asUser('ann') })).status).toBe(404);
  await service.end('SIGTERM');
  await rm(target, { recursive: true, maxRetries: 5 });
}, 300_000);

test('a service that was restored from a snapshot goes on with the backup of before', async () => {
  const [folder, scheduled] = [`${elsewhere}-again`, `${backup}-scheduled`] as const;
  await run(folder, 'restore', '--from', scheduled);
  await startBackedUp(folder, scheduled);
  const kept = await upload();
  await service.end('SIGTERM');
  expect(service.log()).not.toContain('were not archived');
  await rm(folder, { recursive: true });

  expect(await run(folder, 'verify', '--from', scheduled)).toContain('is complete');
  await run(folder, 'restore', '--from', scheduled, '--to-time', 'latest');
  service = await startProcess({ ...settings, DATA_DIR: folder });
  const asset = await call<AssetJson>(service, `GET /media/${kept.id}`, { headers: asUser('ann') });
  expect(asset.body.data['uploaded_at']).not.toBeNull();
  await service.end('SIGTERM');
  await Promise.all([scheduled, folder].map((each) => rm(each, { recursive: true, maxRetries: 5 })));
}, 300_000);
