// Copies the cluster of a running server to a folder, from which another server can start. Uses PostgreSQL's
// low-level backup API (documentation, 25.3.4).
import { createReadStream } from 'node:fs';
import { chmod, chown, mkdir, mkdtemp, open, readdir, rename } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import pg from 'pg';
import { incompletePrefix, isCluster, removeIncompleteClusters, syncFolder } from './cluster.ts';
import { lockFolder } from './folder-lock.ts';
import { type HashedBytes, writeHashed } from './hashed-file.ts';
import { type ClusterLayout, resolveLayout } from './layout.ts';
import type { EmbeddedPostgres } from './launcher.ts';
import { type Recovery, replayLog } from './recovery.ts';

/** A file below the copied cluster. */
export type CopiedFile = HashedBytes & { readonly path: string };

/** Files of a running server, and what it builds anew at each start. */
const OMITTED = /^(?:postmaster\.(?:pid|opts)|\.s\.PGSQL.*|pg_internal\.init.*|pgsql_tmp.*)$/;
const EMPTIED = ['pg_dynshmem', 'pg_notify', 'pg_replslot', 'pg_serial', 'pg_snapshots', 'pg_stat_tmp'];
const WAL = 'pg_wal';

/** `endsAt`: the position of the log at which the copy is consistent, such as `0/3000158`. */
type CopiedCluster = { readonly files: CopiedFile[]; readonly endsAt: string };

/**
 * Copies the cluster into `target`, which must be empty. Writers go on: the copy contains the log that makes
 * it consistent. A server that starts from it has all that was committed before the end.
 */
export async function copyCluster(
  { connection, dataFolder }: Pick<EmbeddedPostgres, 'connection' | 'dataFolder'>,
  target: string,
): Promise<CopiedCluster> {
  const client = new pg.Client({ ...connection, connectionTimeoutMillis: 10_000 });
  // A lost connection rejects the pending query; without this listener the event would end the process.
  client.on('error', () => {});
  await client.connect();
  try {
    // Keeps the log from the start of the backup on; ends with the connection.
    const slot = `mediary_backup_${process.pid}`;
    await client.query('select pg_create_physical_replication_slot($1, true, true)', [slot]);
    const { first } = await one<{ first: string }>(client, BEGIN);
    const files = await copyFolder(dataFolder, target, '');
    const { last, endsAt, label } = await one<CopyEnd>(client, END);
    const wal = (await readdir(join(dataFolder, WAL))).filter(
      (name) => /^[0-9A-F]{24}$/.test(name) && name >= first && name <= last,
    );
    for (const name of wal) files.push(await copyFile(join(dataFolder, WAL, name), target, `${WAL}/${name}`));
    files.push(await writeCopied(target, 'backup_label', [Buffer.from(label)]));
    return { files, endsAt };
  } finally {
    await client.end();
  }
}

const BEGIN = "select pg_walfile_name(pg_backup_start('mediary', fast => true)) as first";
type CopyEnd = { readonly last: string; readonly endsAt: string; readonly label: string };
const END = `select pg_walfile_name(lsn) as last, lsn::text as "endsAt", labelfile as label
               from pg_backup_stop(wait_for_archive => false)`;

async function one<R extends pg.QueryResultRow>(client: pg.Client, sql: string): Promise<R> {
  const { rows } = await client.query<R>(sql);
  return rows[0] as R;
}

async function copyFolder(source: string, target: string, folder: string): Promise<CopiedFile[]> {
  await mkdir(join(target, folder), { recursive: true, mode: 0o700 });
  if (EMPTIED.includes(folder)) return [];
  if (folder === WAL) {
    await mkdir(join(target, WAL, 'archive_status'), { mode: 0o700 });
    return [];
  }
  const entries = (await readdir(join(source, folder), { withFileTypes: true })).filter(
    ({ name }) => !OMITTED.test(name),
  );
  const pathOf = ({ name }: { readonly name: string }) => (folder === '' ? name : `${folder}/${name}`);
  const files = entries.filter((entry) => entry.isFile()).map(pathOf);
  const copied = await copyFiles(source, target, files);
  for (const entry of entries.filter((each) => each.isDirectory()))
    copied.push(...(await copyFolder(source, target, pathOf(entry))));
  return copied;
}

/** Most files are small, and each waits for the disk: some at a time. */
const AT_ONCE = 8;

async function copyFiles(source: string, target: string, paths: readonly string[]): Promise<CopiedFile[]> {
  const copied: CopiedFile[] = [];
  const waiting = paths.values();
  const copyOthers = async () => {
    for (const path of waiting) {
      const file = await unlessDeleted(copyFile(join(source, path), target, path));
      if (file) copied.push(file);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, copyOthers));
  return copied;
}

/** The server deletes files meanwhile, which the log repeats. */
async function unlessDeleted<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/** The oldest file of the log that a copied cluster has. An archived log continues from there. */
export const firstLogOf = (files: readonly CopiedFile[]): string | undefined =>
  files
    .filter(({ path }) => path.startsWith(`${WAL}/`))
    .map(({ path }) => path.slice(WAL.length + 1))
    .sort()[0];

const copyFile = (source: string, target: string, path: string): Promise<CopiedFile> =>
  writeCopied(target, path, createReadStream(source));

const writeCopied = async (
  target: string,
  path: string,
  bytes: Parameters<typeof writeHashed>[1],
): Promise<CopiedFile> => ({ path, ...(await writeHashed(join(target, path), bytes)) });

/** Writes the files of a copied cluster, and its empty folders, into an empty folder. */
type FillCluster = (folder: string) => Promise<unknown>;

/**
 * Makes a copied cluster that of a data folder without one. Without `recovery` its server continues the
 * timeline of the copied one; else the time of the last change is returned. Throws where the folder has a
 * cluster, or a service runs.
 */
export async function restoreCluster(
  fill: FillCluster,
  dataFolder: string,
  recovery?: Recovery,
): Promise<Date | undefined> {
  const layout = await resolveLayout(dataFolder);
  const lock = lockFolder(dirname(layout.cluster));
  try {
    if (!recovery) return await restoreInto(layout, fill);
    return await restoreInto(layout, fill, (cluster) => replayLog({ ...layout, cluster }, recovery));
  } finally {
    lock.release();
  }
}

/** Throws where a restore would overwrite a database. */
export const assertNoCluster = async (dataFolder: string): Promise<void> =>
  refuseCluster(await resolveLayout(dataFolder));

function refuseCluster({ cluster }: Pick<ClusterLayout, 'cluster'>): void {
  if (isCluster(cluster)) throw new Error(`${cluster} has a database. Restore into a folder without one.`);
}

async function restoreInto(
  { cluster, owner }: ClusterLayout,
  fill: FillCluster,
  recover: (cluster: string) => Promise<Date | undefined> = async () => undefined,
): Promise<Date | undefined> {
  await removeIncompleteClusters(cluster);
  refuseCluster({ cluster });
  const incomplete = await mkdtemp(incompletePrefix(cluster));
  await fill(incomplete);
  await own(incomplete, owner);
  const lastChange = await recover(incomplete);
  await rename(incomplete, cluster);
  await syncFolder(dirname(cluster));
  return lastChange;
}

/** The server refuses a cluster that other users may open. */
async function own(folder: string, owner: ClusterLayout['owner']): Promise<void> {
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) await own(path, owner);
    else await ownFile(path, owner);
  }
  await chmod(folder, 0o700);
  await chown(folder, owner.uid, owner.gid);
  await syncFolder(folder);
}

async function ownFile(path: string, { uid, gid }: ClusterLayout['owner']): Promise<void> {
  await using file = await open(path, 'r+');
  await file.chmod(0o600);
  await file.chown(uid, gid);
  await file.sync();
}
