// The archived log of a backup: files of PostgreSQL's log, compressed, under their own names with `.gz`.
import { readFile, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import type { LogFile } from '@mediary/embedded-postgres/log-archive';
import type { BackupTarget } from '../../storage/backup-target.ts';
import { isRefusal } from '../../storage/whole-objects.ts';
import { inParallel, writeBytes } from './backup-files.ts';
import { findGaps, isArchivedName, isBefore, isHistory, isNeeded, timelineIn } from './log-names.ts';

const LOG = 'log';
/** Most files end with zeros, because time ended them: they take a thousandth of their 16 MB. */
const LEVEL = { level: 1 };

/**
 * Durable when it resolves. Writing the same file again changes nothing; throws where a file of this name has
 * other bytes.
 */
export async function writeArchived(target: BackupTarget, { name, path }: LogFile): Promise<void> {
  const bytes = await readFile(path);
  const compressed = await promisify(gzip)(bytes, LEVEL);
  const file = `${LOG}/${name}.gz`;
  try {
    await writeBytes(target, file, compressed);
  } catch (error) {
    if (!isRefusal(error, 'exists')) throw error;
    const archived = await readArchived(target, file);
    if (archived && bytes.equals(archived)) return;
    if (!archived) return replaceDamaged(target, file, compressed);
    throw new Error(
      `${target.location}/${file} is the log of another server, or DATA_DIR was brought back by other ` +
        'means than a restore of this backup. Give the service a backup target of its own',
      { cause: error },
    );
  }
}

async function replaceDamaged(target: BackupTarget, file: string, compressed: Buffer): Promise<void> {
  await target.remove([file]);
  await writeBytes(target, file, compressed);
}

/** Undefined for a damaged or missing file (CRC-32 of gzip). */
async function readArchived(target: BackupTarget, path: string): Promise<Buffer | undefined> {
  const bytes = await target.read(path);
  return bytes && promisify(gunzip)(await buffer(bytes)).catch(() => undefined);
}

/** Names with `.gz`, sorted. */
async function listArchived(target: BackupTarget): Promise<string[]> {
  const names: string[] = [];
  for await (const { path } of target.list(LOG)) names.push(basename(path));
  return names.filter(isArchivedName).sort();
}

export async function hasArchivedLog(target: BackupTarget): Promise<boolean> {
  return (await listArchived(target)).length > 0;
}

/** Deletes what no copy needs whose log begins with one of `firsts`. Their timelines may differ. */
export async function deleteArchivedBefore(
  target: BackupTarget,
  firsts: readonly [string, ...string[]],
): Promise<number> {
  const old = (await listArchived(target)).filter(
    (name) => !isHistory(name) && firsts.every((first) => isBefore(name, first)),
  );
  await target.remove(old.map((name) => `${LOG}/${name}`));
  return old.length;
}

/** The names of the files that a copy needs; all where its first file is not known. */
const listNeeded = async (target: BackupTarget, first: string | undefined): Promise<string[]> =>
  (await listArchived(target)).filter((name) => first === undefined || isNeeded(name, first));

/**
 * Whether the log continues the copy whose log begins with `first`. False while no copy is newer than the
 * restore of a server.
 */
export async function isLogContinuous(target: BackupTarget, first: string): Promise<boolean> {
  const names = await listArchived(target);
  if (names.some((name) => timelineIn(name) > timelineIn(first))) return false;
  const own = names.filter((name) => isNeeded(name, first));
  return own.includes(`${first}.gz`) && findGaps(own).length === 0;
}

/** Writes the files that a copy needs into a folder. */
export const writeLogFiles = async (
  target: BackupTarget,
  first: string | undefined,
  folder: string,
): Promise<void> => writeFiles(target, await listNeeded(target, first), folder);

/** Writes the files that name the timelines of the log: a restored server begins another one. */
export const writeHistories = async (target: BackupTarget, folder: string): Promise<void> =>
  writeFiles(target, (await listArchived(target)).filter(isHistory), folder);

/** The texts of these files. Throws for a damaged one. */
export async function readHistories(
  target: BackupTarget,
): Promise<{ readonly timeline: number; readonly text: string }[]> {
  const names = (await listArchived(target)).filter(isHistory);
  return Promise.all(
    names.map(async (name) => {
      const bytes = await readArchived(target, `${LOG}/${name}`);
      if (!bytes) throw new Error(`${target.location}/${LOG}/${name} is missing or damaged`);
      return { timeline: Number.parseInt(timelineIn(name), 16), text: bytes.toString() };
    }),
  );
}

const writeFiles = (target: BackupTarget, names: readonly string[], folder: string): Promise<void> =>
  inParallel(names, async (name) => {
    const bytes = await target.read(`${LOG}/${name}`);
    if (bytes) await writeFile(join(folder, name), bytes, { mode: 0o600 });
  });

/** Reads the files that a copy needs; returns what is damaged, and the gaps behind which it cannot get. */
export async function findDamagedLog(target: BackupTarget, first: string | undefined): Promise<string[]> {
  const names = await listNeeded(target, first);
  const damaged: string[] = [];
  await inParallel(names, async (name) => {
    const path = `${LOG}/${name}`;
    if (!(await readArchived(target, path))) damaged.push(`${target.location}/${path}`);
  });
  return [...damaged.sort(), ...findGaps(names).map((name) => `${target.location}/${LOG}/${name}`)];
}
