// The files of a backup: one folder with objects, which all snapshots share, and a folder for each snapshot.
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { CopiedFile } from '@mediary/embedded-postgres/base-backup';
import { syncFolder } from '../platform/disk/sync-folder.ts';

/** What a snapshot contains. Objects lie in `objects/<key>` of the backup folder. */
type Snapshot = {
  /** The folder of the snapshot: the time of its start in UTC. */
  readonly name: string;
  readonly finishedAt: string;
  /** Files below `postgres`. */
  readonly database: readonly CopiedFile[];
  readonly objects: readonly CopiedFile[];
};

const LISTING = 'snapshot.json';
export const DATABASE = 'postgres';
export const SECRETS = 'secrets.json';

export const snapshotFolder = (backup: string, name: string): string => join(backup, 'snapshots', name);
export const objectFile = (backup: string, key: string): string => join(backup, 'objects', key);

/** `2026-11-27T18-20-00Z`; names sort by time. */
export const snapshotName = (now: Date): string =>
  now
    .toISOString()
    .replaceAll(':', '-')
    .replace(/\.\d+Z$/, 'Z');

/** The listing comes last: a folder without one is an incomplete snapshot. */
export async function writeSnapshot(backup: string, snapshot: Snapshot): Promise<void> {
  const folder = snapshotFolder(backup, snapshot.name);
  const temporary = join(folder, `${LISTING}.new`);
  await writeFile(temporary, JSON.stringify(snapshot), { flush: true, mode: 0o600 });
  await rename(temporary, join(folder, LISTING));
  await syncFolder(folder);
}

/** Names of complete snapshots, the newest last. */
export async function listSnapshots(backup: string): Promise<string[]> {
  const names = await readdir(join(backup, 'snapshots')).catch(orNone);
  const complete: string[] = [];
  for (const name of names.sort()) {
    const files = await readdir(snapshotFolder(backup, name)).catch(orNone);
    if (files.includes(LISTING)) complete.push(name);
  }
  return complete;
}

/** Deletes the snapshots of commands that were killed. */
export async function deleteIncomplete(backup: string): Promise<void> {
  const complete = await listSnapshots(backup);
  for (const name of await readdir(join(backup, 'snapshots')).catch(orNone))
    if (!complete.includes(name)) await rm(snapshotFolder(backup, name), { recursive: true });
}

function orNone(error: NodeJS.ErrnoException): string[] {
  if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return [];
  throw error;
}

/** The named snapshot, or the newest. */
export async function getSnapshot(backup: string, name?: string): Promise<Snapshot> {
  const names = await listSnapshots(backup);
  const chosen = name ?? names.at(-1);
  if (chosen === undefined) throw new Error(`${backup} has no complete snapshot`);
  if (!names.includes(chosen))
    throw new Error(`${backup} has no snapshot ${chosen}. Snapshots: ${names.join(', ') || 'none'}`);
  return JSON.parse(await readFile(join(snapshotFolder(backup, chosen), LISTING), 'utf8')) as Snapshot;
}

/** Reads every file of a snapshot; returns the paths of those that are missing or have other bytes. */
export async function findDamage(backup: string, { name, database, objects }: Snapshot): Promise<string[]> {
  const damaged: string[] = [];
  const check = async (path: string, { sha256 }: CopiedFile) => {
    if ((await hashFile(path)) !== sha256) damaged.push(path);
  };
  for (const file of database) await check(join(snapshotFolder(backup, name), DATABASE, file.path), file);
  for (const file of objects) await check(objectFile(backup, file.path), file);
  return damaged;
}

/** Undefined for a file that does not exist. */
async function hashFile(path: string): Promise<string | undefined> {
  const hash = createHash('sha256');
  try {
    for await (const bytes of createReadStream(path)) hash.update(bytes as Buffer);
    return hash.digest('hex');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
