// Backups of a real database: interrupted, continued, refused beside another one, and to a slow target.
import { randomBytes, randomUUID } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { mkdtemp, rm } from 'node:fs/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { newFolder, query } from '@mediary/embedded-postgres/launcher.fixture';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '@mediary/embedded-postgres/launcher';
import type { BackupTarget } from '../../storage/backup-target.ts';
import { openFolderBackupTarget } from '../../storage/backup/folder-backup-target.ts';
import { openDiskObjectStore } from '../../storage/disk-object-store.ts';
import { type ObjectKey, uploadKey } from '../../storage/object-key.ts';
import type { ObjectStore } from '../../storage/object-store.ts';
import { listSnapshotNames, readSnapshotFiles } from './backup-snapshot.ts';
import { type BackupSource, createBackup } from './create-backup.ts';
import { findDamage } from './verify-backup.ts';

const OBJECTS = 12;

let [dataDir, root]: string[] = [];
let server: EmbeddedPostgres;
let store: ObjectStore;
let target: BackupTarget;
beforeAll(async () => {
  dataDir = newFolder();
  root = await mkdtemp(join(tmpdir(), 'mediary-backup-'));
  server = await startEmbeddedPostgres(dataDir);
  store = await openDiskObjectStore(join(dataDir, 'objects'), { minFreeBytes: 0 });
  target = openFolderBackupTarget(join(root, 'target'));
  for (let count = 0; count < OBJECTS; count += 1) await addObject();
});
afterAll(async () => {
  await server.stop();
  await rm(root as string, { recursive: true, force: true });
});

const addObject = () => store.put(uploadKey(randomUUID(), randomUUID()), [randomBytes(5000)], 5000);

const sourceWith = (options: Partial<BackupSource> = {}): BackupSource => ({
  dataDir: dataDir as string,
  server,
  store,
  minFreeBytes: 0,
  now: () => new Date(),
  signal: new AbortController().signal,
  ...options,
});

/** Counts the files that are sent, and calls `onWrite` before each. */
function watched(onWrite: (path: string) => void | Promise<void> = () => {}) {
  const sent: string[] = [];
  const write: BackupTarget['write'] = async (file, bytes) => {
    await onWrite(file.path);
    sent.push(file.path);
    return target.write(file, bytes);
  };
  const below = (folder: string) => sent.filter((path) => path.startsWith(`${folder}/`)).length;
  return { below, target: { ...target, write } };
}

test('an interrupted backup looks like none, and the next one sends only what is missing', async () => {
  let objects = 0;
  const failing = watched((path) => {
    if (!path.startsWith('objects/')) return;
    objects += 1;
    if (objects > 5) throw new Error('the line went dead');
  });
  await expect(createBackup(sourceWith(), failing.target)).rejects.toThrow('the line went dead');
  expect(await listSnapshotNames(target)).toEqual([]);
  const sentBefore = failing.below('objects');
  expect(sentBefore).toBeGreaterThan(0);

  const second = watched();
  const { snapshot, copied } = await createBackup(sourceWith(), second.target);
  expect(second.below('objects')).toBe(OBJECTS - sentBefore);
  expect(copied).toBe(OBJECTS - sentBefore);
  expect(second.below('database')).toBeLessThan(failing.below('database') / 5);
  expect(snapshot.objects).toEqual({ count: OBJECTS, sizeBytes: OBJECTS * 5000 });
  expect(await findDamage(target, await readSnapshotFiles(target, snapshot), false)).toEqual([]);

  const third = watched();
  expect((await createBackup(sourceWith(), third.target)).copied).toBe(0);
  expect(third.below('objects')).toBe(0);
  expect(await listSnapshotNames(target)).toHaveLength(2);
});

test('a damaged object is found by reading, by its size alone, and is sent again', async () => {
  const { snapshot } = await createBackup(sourceWith(), target);
  const files = await readSnapshotFiles(target, snapshot);
  const [same, shorter] = files.objects.map(({ path }) => `objects/${path}`) as [string, string];
  await target.remove([same, shorter]);
  await target.write({ path: same, sizeBytes: 5000 }, chunk(5000));
  await target.write({ path: shorter, sizeBytes: 10 }, chunk(10));
  const damaged = [same, shorter].map((path) => `${target.location}/${path}`).sort();
  expect(await findDamage(target, files, false)).toEqual(damaged);
  expect((await createBackup(sourceWith(), target)).copied).toBe(1);
  expect(await findDamage(target, files, false)).toEqual([`${target.location}/${same}`]);
  await target.remove([same]);
  expect((await createBackup(sourceWith(), target)).copied).toBe(1);
  expect(await findDamage(target, files, false)).toEqual([]);
});

test('a damaged list neither ends backups nor fails the one that finds it', async () => {
  const { snapshot } = await createBackup(sourceWith(), target);
  const list = `listings/${snapshot.name}.json.gz`;
  await target.remove([list]);
  await target.write({ path: list, sizeBytes: 10 }, chunk(10));
  const keep = { last: 2 };
  const { retentionError, ...next } = await createBackup(sourceWith(), target, keep);
  expect(next).toMatchObject({ copied: 0, deletedSnapshots: 0 });
  expect(String(retentionError)).toContain(`${list} is damaged`);
  expect((await listSnapshotNames(target)).at(-1)).toBe(next.snapshot.name);
  const last = await createBackup(sourceWith(), target, { last: 1 });
  expect(last).not.toHaveProperty('retentionError');
  expect(await listSnapshotNames(target)).toEqual([last.snapshot.name]);
});

async function* chunk(length: number): AsyncGenerator<Uint8Array> {
  yield Buffer.alloc(length, 'x');
}

test('no connection of the database waits for a slow target, and a second backup is refused', async () => {
  const [reached, waiting] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const slow = watched(async () => {
    reached.resolve();
    await waiting.promise;
  });
  await query(server, 'create table note (text text)');
  const running = createBackup(sourceWith(), slow.target);
  await reached.promise;
  const busy = await query(
    server,
    `select count(*)::int as count from pg_stat_activity
      where backend_type = 'client backend' and pid <> pg_backend_pid()`,
  );
  expect(busy).toEqual([{ count: 0 }]);
  expect(await query(server, 'select slot_name from pg_replication_slots')).toEqual([]);
  const other = openFolderBackupTarget(target.location);
  await expect(createBackup(sourceWith(), other)).rejects.toThrow('Another backup is writing to');
  waiting.resolve();
  await running;
});

test('objects of other programs are not part of a backup', async () => {
  const foreign = 'renditions/Thumbs.db' as ObjectKey;
  const bucket: ObjectStore = {
    ...store,
    async *listSizes(prefix) {
      yield* store.listSizes(prefix);
      if (foreign.startsWith(prefix)) yield { key: foreign, sizeBytes: 5, modifiedAt: new Date() };
    },
    stream: (key, range) =>
      key === foreign ? Readable.from([Buffer.from('bytes')]) : store.stream(key, range),
  };
  const { snapshot } = await createBackup(sourceWith({ store: bucket }), target);
  const { objects } = await readSnapshotFiles(target, snapshot);
  expect(objects.length).toBeGreaterThanOrEqual(OBJECTS);
  expect(objects.map(({ path }) => path)).not.toContain(foreign);
});

test('a stopped service gives its backup up, and a full disk is named before the copy', async () => {
  const before = await listSnapshotNames(target);
  const stopping = new AbortController();
  await addObject();
  const stopped = watched((path) => (path.startsWith('objects/') ? stopping.abort() : undefined));
  await expect(createBackup(sourceWith({ signal: stopping.signal }), stopped.target)).rejects.toThrow();
  await expect(createBackup(sourceWith({ minFreeBytes: 2 ** 52 }), target)).rejects.toThrow(
    /first copies the database to .*scratch, which takes \d+ bytes/,
  );
  expect(await listSnapshotNames(target)).toEqual(before);
});
