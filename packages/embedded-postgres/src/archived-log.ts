// The folder of an archived log: files of PostgreSQL's log, compressed, under their own names with `.gz`.
import { mkdir, open, readdir, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import { syncFolder } from './cluster.ts';
import type { LogFile } from './log-archive.ts';

const COMPRESSED = /^(?:[0-9A-F]{24}|[0-9A-F]{8}\.history)\.gz$/;

/** Most files end with zeros, because time ended them: they take a thousandth of their 16 MB. */
const LEVEL = { level: 1 };

/**
 * Durable when it resolves. Writing the same file again changes nothing; throws where a file of this name has
 * other bytes.
 */
export async function writeArchived(folder: string, { name, path }: LogFile): Promise<void> {
  const target = join(folder, `${name}.gz`);
  const bytes = await readFile(path);
  const archived = await readFile(target).catch(unlessMissing);
  if (archived) return assertSame(target, archived, bytes);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const compressed = await promisify(gzip)(bytes, LEVEL);
  const temporary = `${target}.new`;
  {
    await using file = await open(temporary, 'w', 0o600);
    await file.writeFile(compressed);
    await file.sync();
  }
  await rename(temporary, target);
  await syncFolder(folder);
}

async function assertSame(target: string, archived: Buffer, bytes: Buffer): Promise<void> {
  if (bytes.equals(await promisify(gunzip)(archived))) return;
  throw new Error(`${target} is the log of another server. Give each service a backup folder of its own`);
}

/** Names with `.gz`, sorted. */
export async function listArchived(folder: string): Promise<string[]> {
  const names = await readdir(folder).catch(unlessMissing);
  return (names ?? []).filter((name) => COMPRESSED.test(name)).sort();
}

/** Deletes what only copies need that are older than the one whose log begins with `first`. */
export async function deleteArchivedBefore(folder: string, first: string): Promise<number> {
  const old = (await listArchived(folder)).filter(
    (name) => !isHistory(name) && positionOf(name) < positionOf(first),
  );
  for (const name of old) await rm(join(folder, name));
  return old.length;
}

const isHistory = (name: string): boolean => name.endsWith('.history.gz');
/** Without the timeline, which a restored server changes. */
const positionOf = (name: string): string => name.slice(8, 24);

function unlessMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error;
}

/** Reads every file; returns the paths of those that are damaged (CRC-32 of gzip). */
export async function findDamagedLog(folder: string): Promise<string[]> {
  const damaged: string[] = [];
  for (const name of await listArchived(folder)) {
    const path = join(folder, name);
    const isWhole = await promisify(gunzip)(await readFile(path)).then(
      () => true,
      () => false,
    );
    if (!isWhole) damaged.push(path);
  }
  return damaged;
}
