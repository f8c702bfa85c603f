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

const LOG = 'log';
const COMPRESSED = /^(?:[0-9A-F]{24}|[0-9A-F]{8}\.history)\.gz$/;
/** Most files end with zeros, because time ended them: they take a thousandth of their 16 MB. */
const LEVEL = { level: 1 };
const SEGMENTS_PER_ID = 256n;

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
    throw new Error(
      `${target.location}/${file} is the log of another server, or DATA_DIR was brought back by other ` +
        'means than a restore of this backup. Give the service a backup target of its own',
      { cause: error },
    );
  }
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
  return names.filter((name) => COMPRESSED.test(name)).sort();
}

export async function hasArchivedLog(target: BackupTarget): Promise<boolean> {
  return (await listArchived(target)).length > 0;
}

/** Deletes what only copies need that are older than the one whose log begins with `first`. */
export async function deleteArchivedBefore(target: BackupTarget, first: string): Promise<number> {
  const old = (await listArchived(target)).filter((name) => !isNeeded(name, first));
  await target.remove(old.map((name) => `${LOG}/${name}`));
  return old.length;
}

/** The names of the files that a copy needs; all where its first file is not known. */
const listNeeded = async (target: BackupTarget, first: string | undefined): Promise<string[]> =>
  (await listArchived(target)).filter((name) => first === undefined || isNeeded(name, first));

/** Whether a copy needs the file whose log begins with `first`. */
const isNeeded = (name: string, first: string): boolean =>
  isHistory(name) || positionOf(name) >= positionOf(first);

const isHistory = (name: string): boolean => name.endsWith('.history.gz');

const timelineOf = (name: string): string => name.slice(0, 8);

/** The number of a file, without the timeline, which a restored server changes. */
const positionOf = (name: string): bigint =>
  BigInt(`0x${name.slice(8, 16)}`) * SEGMENTS_PER_ID + BigInt(`0x${name.slice(16, 24)}`);

/**
 * Whether the log continues the copy whose log begins with `first`. False while no copy is newer than the
 * restore of a server.
 */
export async function isLogContinuous(target: BackupTarget, first: string): Promise<boolean> {
  const names = (await listNeeded(target, first)).filter((name) => !isHistory(name));
  const own = names.filter((name) => timelineOf(name) === timelineOf(first));
  const hasLaterTimeline = names.some((name) => timelineOf(name) > timelineOf(first));
  return !hasLaterTimeline && own.includes(`${first}.gz`) && findGaps(own).length === 0;
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

/** The name of the first missing file of each gap. */
function findGaps(names: readonly string[]): string[] {
  const files = names.filter((name) => !isHistory(name));
  const positions = new Map(files.map((name) => [positionOf(name), name]));
  const last = [...positions.keys()].reduce((max, position) => (position > max ? position : max), 0n);
  return [...positions]
    .filter(([position]) => position < last && !positions.has(position + 1n))
    .map(([position, name]) => nameOf(timelineOf(name), position + 1n));
}

function nameOf(timeline: string, position: bigint): string {
  const hex = (number: bigint) => number.toString(16).toUpperCase().padStart(8, '0');
  return `${timeline}${hex(position / SEGMENTS_PER_ID)}${hex(position % SEGMENTS_PER_ID)}.gz`;
}
