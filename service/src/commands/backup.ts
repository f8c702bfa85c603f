// `npm run backup`: copies the database of DATA_DIR and the objects of the store, verifies and restores them.
import { copyFile, mkdir, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { assertNoCluster, copyCluster, restoreCluster } from '@mediary/embedded-postgres/base-backup';
import { lockFolder } from '@mediary/embedded-postgres/folder-lock';
import { openEmbeddedPostgres } from '@mediary/embedded-postgres/launcher';
import type { Config } from '../config.ts';
import type { ObjectStore } from '../storage/object-store.ts';
import { copyObjects, deleteUnlisted, restoreObjects } from './backup-objects.ts';
import {
  DATABASE,
  deleteIncomplete,
  findDamage,
  getSnapshot,
  listSnapshots,
  readSnapshot,
  SECRETS,
  snapshotFolder,
  snapshotName,
  writeSnapshot,
} from './backup-snapshot.ts';

export const BACKUP_USAGE = `npm run backup -- create --to <folder> [--keep <n>]
  npm run backup -- list|verify --from <folder> [--snapshot <name>]
  npm run backup -- restore --from <folder> [--snapshot <name>]`;

type BackupContext = {
  readonly config: Pick<Config, 'dataDir' | 'databaseUrl'>;
  readonly store: ObjectStore;
  readonly now: () => Date;
  readonly print: (text: string) => void;
};

type Options = { readonly folder: string; readonly keep: number | undefined; readonly snapshot?: string };

/** Throws for wrong arguments, for a damaged backup, and where a restore would overwrite a database. */
export async function runBackupCommand(
  context: BackupContext,
  [verb = '', ...rest]: readonly string[],
): Promise<void> {
  const run = Object.hasOwn(VERBS, verb) ? VERBS[verb] : undefined;
  const options = run && parseOptions(verb, rest);
  if (!run || !options) throw new Error(`Usage:\n  ${BACKUP_USAGE}`);
  await run(context, options);
}

const VERBS: Readonly<Record<string, (context: BackupContext, options: Options) => Promise<void>>> = {
  create: createBackup,
  list: listBackup,
  verify: verifyBackup,
  restore: restoreBackup,
};

function parseOptions(verb: string, args: readonly string[]): Options | undefined {
  const { values } = parseArgs({
    args: [...args],
    options: {
      to: { type: 'string' },
      from: { type: 'string' },
      keep: { type: 'string' },
      snapshot: { type: 'string' },
    },
  });
  const folder = verb === 'create' ? values.to : values.from;
  if (folder === undefined) return undefined;
  const keep = values.keep === undefined ? undefined : Number(values.keep);
  if (keep !== undefined && !(Number.isInteger(keep) && keep >= 1))
    throw new Error('--keep must be the number of snapshots to keep, at least 1');
  return {
    folder: resolve(folder),
    keep,
    ...(values.snapshot !== undefined && { snapshot: values.snapshot }),
  };
}

/**
 * The database comes first: the store still has the objects of every row then, because the service deletes
 * replaced ones only after PURGE_GRACE_DAYS.
 */
async function createBackup(context: BackupContext, { folder, keep }: Options): Promise<void> {
  const { store, print, now } = context;
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const lock = lockFolder(folder);
  try {
    await deleteIncomplete(folder);
    const [newest] = (await listSnapshots(folder)).slice(-1);
    const known = newest === undefined ? [] : (await readSnapshot(folder, newest)).objects;
    const name = snapshotName(now());
    const database = await copyDatabase(context, snapshotFolder(folder, name));
    print(`database  ${database.length} files, ${megabytes(database)}\n`);
    const { objects, copied } = await copyObjects(store, folder, known);
    print(`objects   ${objects.length} files, ${megabytes(objects)}; ${copied} of them are new\n`);
    await writeSnapshot(folder, { name, finishedAt: now().toISOString(), database, objects });
    print(`snapshot  ${name}\n`);
    if (keep !== undefined) await deleteOldSnapshots(context, folder, keep);
  } finally {
    lock.release();
  }
}

async function copyDatabase({ config }: BackupContext, snapshot: string) {
  assertOwnDatabase(config);
  const target = join(snapshot, DATABASE);
  await mkdir(target, { recursive: true, mode: 0o700 });
  const server = await openEmbeddedPostgres(config.dataDir);
  try {
    const files = await copyCluster(server, target);
    await copyFile(join(config.dataDir, SECRETS), join(snapshot, SECRETS)).catch(unlessMissing);
    return files;
  } finally {
    await server.stop();
  }
}

/** Without generated secrets, all come from settings. */
function unlessMissing(error: NodeJS.ErrnoException): void {
  if (error.code !== 'ENOENT') throw error;
}

function assertOwnDatabase({ databaseUrl }: BackupContext['config']): void {
  if (databaseUrl !== undefined)
    throw new Error(
      'DATABASE_URL is set, so the database is not in DATA_DIR. Back it up with the tools of PostgreSQL, ' +
        'for example pgBackRest.',
    );
}

async function deleteOldSnapshots({ print }: BackupContext, folder: string, keep: number): Promise<void> {
  const names = await listSnapshots(folder);
  const old = names.slice(0, -keep);
  for (const name of old) await rm(snapshotFolder(folder, name), { recursive: true });
  const listed = new Set<string>();
  for (const name of names.slice(-keep))
    for (const { path } of (await readSnapshot(folder, name)).objects) listed.add(path);
  const deleted = await deleteUnlisted(join(folder, 'objects'), listed);
  print(`deleted   ${old.length} snapshots, ${deleted} objects\n`);
}

async function listBackup({ print }: BackupContext, { folder }: Options): Promise<void> {
  for (const name of await listSnapshots(folder)) {
    const { database, objects } = await readSnapshot(folder, name);
    print(`${name}  database ${megabytes(database)}  objects ${objects.length}, ${megabytes(objects)}\n`);
  }
}

async function verifyBackup({ print }: BackupContext, { folder, snapshot: name }: Options): Promise<void> {
  const snapshot = await getSnapshot(folder, name);
  const damaged = await findDamage(folder, snapshot);
  if (damaged.length > 0)
    throw new Error(
      `${damaged.length} files of ${snapshot.name} are missing or damaged:\n${damaged.join('\n')}`,
    );
  const { database, objects } = snapshot;
  print(
    `${snapshot.name} is complete: ${database.length} files of the database, ${objects.length} objects\n`,
  );
}

async function restoreBackup(context: BackupContext, { folder, snapshot: name }: Options): Promise<void> {
  const { config, store, print } = context;
  assertOwnDatabase(config);
  const snapshot = await getSnapshot(folder, name);
  const source = snapshotFolder(folder, snapshot.name);
  await mkdir(config.dataDir, { recursive: true });
  await assertNoCluster(config.dataDir);
  // The database comes last: a service that starts before has none, and so serves nothing half restored.
  await restoreObjects(store, folder, snapshot.objects);
  print(`objects   ${snapshot.objects.length} files, ${megabytes(snapshot.objects)}\n`);
  await copyFile(join(source, SECRETS), join(config.dataDir, SECRETS)).catch(unlessMissing);
  await restoreCluster(join(source, DATABASE), config.dataDir);
  print(`database  ${snapshot.database.length} files, ${megabytes(snapshot.database)}\n`);
  print(`restored  ${snapshot.name}. Start the service with npm start.\n`);
}

const megabytes = (files: readonly { readonly sizeBytes: number }[]): string =>
  `${(files.reduce((total, { sizeBytes }) => total + sizeBytes, 0) / 1e6).toFixed(1)} MB`;
