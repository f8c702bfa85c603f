// The snapshots of a backup: each has a list of its files, and a small file that makes it complete.
import { createHash } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import { firstLogOf, type CopiedFile } from '@mediary/embedded-postgres/base-backup';
import type { BackupTarget } from '../../storage/backup-target.ts';
import { type BackedUpFile, writeBytes } from './backup-files.ts';

export type Snapshot = {
  /** The time of its start in UTC. */
  readonly name: string;
  readonly finishedAt: string;
  /** The oldest file of the log that its database has. An archived log continues from there. */
  readonly firstLog: string | undefined;
  /** The position of the log at which its database is consistent. */
  readonly endsAt: string;
  readonly database: FileTotals;
  readonly objects: FileTotals;
  /** SHA-256 of the file list, without compression. */
  readonly listing: string;
};

type FileTotals = { readonly count: number; readonly sizeBytes: number };

/** What a snapshot contains. Files of the database lie in `database/<sha256>`, objects in `objects/<key>`. */
export type SnapshotFiles = {
  /** Of the cluster, also empty ones. */
  readonly folders: readonly string[];
  readonly database: readonly BackedUpFile[];
  readonly endsAt: string;
  /** The generated secrets of DATA_DIR; undefined where all come from settings. */
  readonly secrets: BackedUpFile | undefined;
  readonly objects: readonly BackedUpFile[];
};

const SNAPSHOTS = 'snapshots';
const LISTINGS = 'listings';
const snapshotPath = (name: string): string => `${SNAPSHOTS}/${name}.json`;
const listingPath = (name: string): string => `${LISTINGS}/${name}.json.gz`;

/** `2026-11-27T18-20-00Z`; names sort by time. */
export const snapshotName = (now: Date): string =>
  now
    .toISOString()
    .replaceAll(':', '-')
    .replace(/\.\d+Z$/, 'Z');

/** The snapshot comes after its list: one that was interrupted has none, and so does not exist. */
export async function writeSnapshot(
  target: BackupTarget,
  { name, finishedAt }: Pick<Snapshot, 'name' | 'finishedAt'>,
  files: SnapshotFiles,
): Promise<Snapshot> {
  const text = Buffer.from(JSON.stringify(files));
  const snapshot = {
    name,
    finishedAt,
    firstLog: firstLogOf(files.database),
    endsAt: files.endsAt,
    database: totalsOf(files.database),
    objects: totalsOf(files.objects),
    listing: createHash('sha256').update(text).digest('hex'),
  };
  await writeBytes(target, listingPath(name), await promisify(gzip)(text));
  await writeBytes(target, snapshotPath(name), Buffer.from(JSON.stringify(snapshot)));
  return snapshot;
}

const totalsOf = (files: readonly CopiedFile[]): FileTotals => ({
  count: files.length,
  sizeBytes: files.reduce((total, { sizeBytes }) => total + sizeBytes, 0),
});

/** Complete ones, the newest last. */
export async function listSnapshots(target: BackupTarget): Promise<Snapshot[]> {
  const snapshots: Snapshot[] = [];
  for (const name of await listNames(target, SNAPSHOTS)) snapshots.push(await readSnapshot(target, name));
  return snapshots;
}

/** Names of complete snapshots, the newest last. */
export const listSnapshotNames = (target: BackupTarget): Promise<string[]> => listNames(target, SNAPSHOTS);

async function listNames(target: BackupTarget, folder: string): Promise<string[]> {
  const names: string[] = [];
  for await (const { path } of target.list(folder)) {
    const [, name] = /^[a-z]+\/([0-9TZ-]+)\.json(?:\.gz)?$/.exec(path) ?? [];
    if (name !== undefined) names.push(name);
  }
  return names.sort();
}

/** The named snapshot, or the newest. */
export async function getSnapshot(target: BackupTarget, name?: string): Promise<Snapshot> {
  const names = await listSnapshotNames(target);
  const chosen = name ?? names.at(-1);
  if (chosen === undefined) throw new Error(`${target.location} has no complete snapshot`);
  if (names.includes(chosen)) return readSnapshot(target, chosen);
  throw new Error(`${target.location} has no snapshot ${chosen}. Snapshots: ${names.join(', ') || 'none'}`);
}

async function readSnapshot(target: BackupTarget, name: string): Promise<Snapshot> {
  const path = snapshotPath(name);
  const bytes = await target.read(path);
  if (!bytes) throw new Error(`${target.location}/${path} is missing`);
  return { ...parseJson<Snapshot>(target, { path, text: await buffer(bytes) }), name };
}

/** The list of a snapshot is missing or damaged. */
export class DamagedListError extends Error {}

/** Throws DamagedListError. */
export async function readSnapshotFiles(
  target: BackupTarget,
  { name, listing }: Snapshot,
): Promise<SnapshotFiles> {
  const path = listingPath(name);
  const bytes = await target.read(path);
  if (!bytes) throw new DamagedListError(`${target.location}/${path} is missing`);
  const text = await promisify(gunzip)(await buffer(bytes)).catch(() => undefined);
  if (!text || createHash('sha256').update(text).digest('hex') !== listing)
    throw new DamagedListError(`${target.location}/${path} is damaged`);
  const files = parseJson<SnapshotFiles>(target, { path, text });
  for (const each of [...files.folders, ...files.database.map((file) => file.path)]) assertInside(each);
  return files;
}

function parseJson<T>(target: BackupTarget, { path, text }: { path: string; text: Buffer }): T {
  try {
    return JSON.parse(text.toString()) as T;
  } catch (cause) {
    throw new Error(`${target.location}/${path} is damaged`, { cause });
  }
}

/** Who can write into a backup must not be able to write anywhere else. */
function assertInside(path: string): void {
  if (path.split('/').some((name) => ['', '.', '..'].includes(name)))
    throw new Error(`"${path}" is not a file of a database`);
}

/** Snapshots come first: one whose files are being deleted must not look whole. */
export async function deleteSnapshots(target: BackupTarget, names: readonly string[]): Promise<void> {
  await target.remove(names.map(snapshotPath));
  await target.remove(names.map(listingPath));
}

/** Deletes the lists of snapshots that never became complete. */
export async function deleteIncompleteListings(target: BackupTarget): Promise<void> {
  const complete = await listSnapshotNames(target);
  const incomplete = (await listNames(target, LISTINGS)).filter((name) => !complete.includes(name));
  await target.remove(incomplete.map(listingPath));
}
