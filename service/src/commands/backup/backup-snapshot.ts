// The files of a backup: one folder with objects, which all snapshots share, and a folder for each snapshot.
import { readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { CopiedFile } from '@mediary/embedded-postgres/base-backup';
import { ChangedFileError, readVerified } from '@mediary/embedded-postgres/hashed-file';
import { syncFolder } from '../../platform/disk/sync-folder.ts';

/** What a snapshot contains. Objects lie in `objects/<key>` of the backup folder. */
export type Snapshot = {
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
/** The archived log of the database, which all snapshots share. */
export const logFolder = (backup: string): string => join(backup, 'log');
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
  return readSnapshot(backup, chosen);
}

/** Of a complete snapshot. */
export const readSnapshot = async (backup: string, name: string): Promise<Snapshot> =>
  JSON.parse(await readFile(join(snapshotFolder(backup, name), LISTING), 'utf8'));

/** Reads every file of a snapshot; returns the paths of those that are missing or have other bytes. */
export async function findDamage(backup: string, { name, database, objects }: Snapshot): Promise<string[]> {
  const files = [
    ...database.map((file) => ({ ...file, path: join(snapshotFolder(backup, name), DATABASE, file.path) })),
    ...objects.map((file) => ({ ...file, path: objectFile(backup, file.path) })),
  ];
  const damaged: string[] = [];
  for (const { path, sha256 } of files) if (!(await isWhole(path, sha256))) damaged.push(path);
  return damaged;
}

async function isWhole(path: string, sha256: string): Promise<boolean> {
  try {
    for await (const _ of readVerified(path, sha256));
    return true;
  } catch (error) {
    if (error instanceof ChangedFileError || (error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw error;
  }
}
