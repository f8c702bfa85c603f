// `npm run backup`: copies the database of DATA_DIR and the objects of the store, verifies and restores them.
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { openEmbeddedPostgres } from '@mediary/embedded-postgres/launcher';
import type { Config } from '../../config.ts';
import type { ObjectStore } from '../../storage/object-store.ts';
import { findDamage, getSnapshot, listSnapshots, logFolder, readSnapshot } from './backup-snapshot.ts';
import { createBackup } from './create-backup.ts';
import { restoreBackup, type RestorePoint } from './restore-backup.ts';
import { findDamagedLog } from '@mediary/embedded-postgres/archived-log';

export const BACKUP_USAGE = `npm run backup -- create --to <folder> [--keep <n>]
  npm run backup -- list|verify --from <folder> [--snapshot <name>]
  npm run backup -- restore --from <folder> [--snapshot <name> | --to-time <time>|latest]`;

type BackupContext = {
  readonly config: Pick<Config, 'dataDir' | 'databaseUrl'>;
  readonly store: ObjectStore;
  readonly now: () => Date;
  readonly print: (text: string) => void;
};

type Options = {
  readonly folder: string;
  readonly keep: number | undefined;
  readonly snapshot: string | undefined;
  readonly toTime: Date | 'latest' | undefined;
};

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
  create,
  list,
  verify,
  restore,
};

function parseOptions(verb: string, args: readonly string[]): Options | undefined {
  const { values } = parseArgs({
    args: [...args],
    options: {
      to: { type: 'string' },
      from: { type: 'string' },
      keep: { type: 'string' },
      snapshot: { type: 'string' },
      'to-time': { type: 'string' },
    },
  });
  const folder = verb === 'create' ? values.to : values.from;
  if (folder === undefined) return undefined;
  const toTime = values['to-time'];
  if (toTime !== undefined && values.snapshot !== undefined)
    throw new Error('--to-time chooses the snapshot itself: leave --snapshot out');
  return {
    folder: resolve(folder),
    keep: values.keep === undefined ? undefined : parseKeep(values.keep),
    snapshot: values.snapshot,
    toTime: toTime === undefined ? undefined : parseTime(toTime),
  };
}

function parseKeep(text: string): number {
  const keep = Number(text);
  if (Number.isInteger(keep) && keep >= 1) return keep;
  throw new Error('--keep must be the number of snapshots to keep, at least 1');
}

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?(?:Z|[+-]\d\d:\d\d)$/;

function parseTime(text: string): Date | 'latest' {
  if (text === 'latest') return text;
  const time = new Date(text);
  if (TIME.test(text) && !Number.isNaN(time.getTime())) return time;
  throw new Error('--to-time must be a time with its zone, such as 2026-11-27T18:20:00Z, or "latest"');
}

async function create(context: BackupContext, { folder, keep }: Options): Promise<void> {
  const { config, store, now, print } = context;
  const dataDir = ownDatabaseFolder(config);
  const server = await openEmbeddedPostgres(dataDir);
  try {
    const source = { dataDir, server, store, now, signal: new AbortController().signal };
    const made = await createBackup(source, folder, keep === undefined ? undefined : { last: keep });
    const { name, database, objects } = made.snapshot;
    print(`database  ${database.length} files, ${megabytes(database)}\n`);
    print(`objects   ${objects.length} files, ${megabytes(objects)}; ${made.copied} of them are new\n`);
    print(`snapshot  ${name}\n`);
    if (keep !== undefined)
      print(`deleted   ${made.deletedSnapshots} snapshots, ${made.deletedObjects} objects\n`);
  } finally {
    await server.stop();
  }
}

function ownDatabaseFolder({ dataDir, databaseUrl }: BackupContext['config']): string {
  if (databaseUrl === undefined) return dataDir;
  throw new Error(
    'DATABASE_URL is set, so the database is not in DATA_DIR. Back it up with the tools of PostgreSQL, ' +
      'for example pgBackRest.',
  );
}

async function list({ print }: BackupContext, { folder }: Options): Promise<void> {
  for (const name of await listSnapshots(folder)) {
    const { database, objects } = await readSnapshot(folder, name);
    print(`${name}  database ${megabytes(database)}  objects ${objects.length}, ${megabytes(objects)}\n`);
  }
}

async function verify({ print }: BackupContext, { folder, snapshot: name }: Options): Promise<void> {
  const snapshot = await getSnapshot(folder, name);
  const damaged = [...(await findDamage(folder, snapshot)), ...(await findDamagedLog(logFolder(folder)))];
  if (damaged.length > 0)
    throw new Error(
      `${damaged.length} files of ${snapshot.name} are missing or damaged:\n${damaged.join('\n')}`,
    );
  const { database, objects } = snapshot;
  print(
    `${snapshot.name} is complete: ${database.length} files of the database, ${objects.length} objects\n`,
  );
}

async function restore({ config, store, print }: BackupContext, options: Options): Promise<void> {
  const dataDir = ownDatabaseFolder(config);
  const { snapshot, objects, lastChange } = await restoreBackup(
    { dataDir, store },
    options.folder,
    toRestorePoint(options),
  );
  print(`objects   ${objects.length} files, ${megabytes(objects)}\n`);
  print(`database  ${snapshot.database.length} files, ${megabytes(snapshot.database)}\n`);
  if (options.toTime)
    print(`log       its last change is of ${lastChange?.toISOString() ?? 'before the snapshot'}\n`);
  print(`restored  ${snapshot.name}. Start the service with npm start.\n`);
  if (options.toTime) print('          Then compare the database with the objects: npm run fsck\n');
}

function toRestorePoint({ snapshot, toTime }: Options): RestorePoint {
  if (toTime !== undefined) return { time: toTime };
  return snapshot === undefined ? undefined : { snapshot };
}

const megabytes = (files: readonly { readonly sizeBytes: number }[]): string =>
  `${(files.reduce((total, { sizeBytes }) => total + sizeBytes, 0) / 1e6).toFixed(1)} MB`;
