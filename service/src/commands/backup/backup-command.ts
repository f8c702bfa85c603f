// `npm run backup`: copies the database of DATA_DIR and the objects of the store, verifies and restores them.
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { openEmbeddedPostgres } from '@mediary/embedded-postgres/launcher';
import type { Config } from '../../config.ts';
import type { ObjectStore } from '../../storage/object-store.ts';
import type { BackupTarget } from '../../storage/backup-target.ts';
import { findDamagedLog } from './archived-log.ts';
import { getSnapshot, listSnapshotNames, listSnapshots, readSnapshotFiles } from './backup-snapshot.ts';
import { createBackup } from './create-backup.ts';
import { restoreBackup } from './restore-backup.ts';
import type { RestorePoint } from './restore-route.ts';
import { isBelow, isBucketPlace } from './settings.ts';
import { findDamage } from './verify-backup.ts';

export const BACKUP_USAGE = `npm run backup -- create --to <target> [--keep <n>]
  npm run backup -- list --from <target>
  npm run backup -- verify --from <target> [--snapshot <name>] [--quick]
  npm run backup -- restore --from <target> [--snapshot <name> | --to-time <time>|latest]
                                  <target> is a folder or s3://<bucket>[/<prefix>]`;

type BackupContext = {
  readonly config: Pick<Config, 'dataDir' | 'databaseUrl' | 'minFreeBytes'>;
  readonly store: ObjectStore;
  /** Opens the target of an argument. */
  readonly openTarget: (text: string) => Promise<BackupTarget>;
  readonly now: () => Date;
  readonly print: (text: string) => void;
};

type Options = {
  /** A folder or a bucket. */
  readonly place: string;
  readonly keep: number | undefined;
  readonly snapshot: string | undefined;
  readonly toTime: Date | 'latest' | undefined;
  readonly isQuick: boolean;
};

/** Throws for wrong arguments, for a damaged backup, and where a restore would overwrite a database. */
export async function runBackupCommand(
  context: BackupContext,
  [verb = '', ...rest]: readonly string[],
): Promise<void> {
  const run = Object.hasOwn(VERBS, verb) ? VERBS[verb] : undefined;
  const options = run && parseOptions(verb, rest);
  if (!run || !options) throw new Error(`Usage:\n  ${BACKUP_USAGE}`);
  const { dataDir } = context.config;
  if (verb === 'create' && !isBucketPlace(options.place) && isBelow(dataDir, resolve(options.place)))
    throw new Error(`--to must be outside DATA_DIR, which is ${dataDir}`);
  const target = await context.openTarget(options.place);
  await run(context, target, options).finally(target.close);
}

type Verb = (context: BackupContext, target: BackupTarget, options: Options) => Promise<void>;

const VERBS: Readonly<Record<string, Verb>> = {
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
      quick: { type: 'boolean', default: false },
    },
  });
  const place = verb === 'create' ? values.to : values.from;
  if (place === undefined) return undefined;
  const toTime = values['to-time'];
  if (toTime !== undefined && values.snapshot !== undefined)
    throw new Error('--to-time chooses the snapshot itself: leave --snapshot out');
  return {
    place,
    keep: values.keep === undefined ? undefined : parseKeep(values.keep),
    snapshot: values.snapshot,
    toTime: toTime === undefined ? undefined : parseTime(toTime),
    isQuick: values.quick,
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

async function create(context: BackupContext, target: BackupTarget, { keep }: Options): Promise<void> {
  const { config, store, now, print } = context;
  const dataDir = ownDatabaseFolder(config);
  const stopping = new AbortController();
  const { signal } = stopping;
  const stop = () => stopping.abort(new Error('The backup was interrupted. The next one keeps its files.'));
  // Without them, the database server that this command started would go on.
  process.once('SIGINT', stop).once('SIGTERM', stop);
  const server = await openEmbeddedPostgres(dataDir);
  try {
    signal.throwIfAborted();
    const source = { dataDir, server, store, minFreeBytes: config.minFreeBytes, now, signal };
    const made = await createBackup(source, target, keep === undefined ? undefined : { last: keep });
    const { name, database, objects } = made.snapshot;
    print(`database  ${database.count} files, ${megabytes(database)}\n`);
    print(`objects   ${objects.count} files, ${megabytes(objects)}; ${made.copied} of them are new\n`);
    print(`snapshot  ${name}\n`);
    if (made.retentionError !== undefined) throw made.retentionError;
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

async function list({ print }: BackupContext, target: BackupTarget): Promise<void> {
  for (const { name, database, objects } of await listSnapshots(target))
    print(`${name}  database ${megabytes(database)}  objects ${objects.count}, ${megabytes(objects)}\n`);
}

async function verify(
  { print }: BackupContext,
  target: BackupTarget,
  { snapshot: name, isQuick }: Options,
): Promise<void> {
  const snapshot = await getSnapshot(target, name);
  const damaged = await findDamage(target, await readSnapshotFiles(target, snapshot), isQuick);
  // The log of older snapshots may end before that of the next one begins.
  const isNewest = snapshot.name === (await listSnapshotNames(target)).at(-1);
  if (isNewest) damaged.push(...(await findDamagedLog(target, snapshot.firstLog)));
  if (damaged.length > 0)
    throw new Error(
      `${damaged.length} files of ${snapshot.name} are missing or damaged:\n${damaged.join('\n')}`,
    );
  const { database, objects } = snapshot;
  print(`${snapshot.name} is complete: ${database.count} files of the database, ${objects.count} objects\n`);
}

async function restore(
  { config, store, print }: BackupContext,
  target: BackupTarget,
  options: Options,
): Promise<void> {
  const dataDir = ownDatabaseFolder(config);
  const restored = await restoreBackup({ dataDir, store }, target, toRestorePoint(options));
  const { snapshot, objects, lastChange } = restored;
  const sizeBytes = objects.reduce((total, object) => total + object.sizeBytes, 0);
  print(`objects   ${objects.length} files, ${megabytes({ sizeBytes })}\n`);
  print(`database  ${snapshot.database.count} files, ${megabytes(snapshot.database)}\n`);
  if (options.toTime)
    print(`log       its last change is of ${lastChange?.toISOString() ?? 'before the snapshot'}\n`);
  print(`restored  ${snapshot.name}. Start the service with npm start.\n`);
  if (options.toTime) print('          Then compare the database with the objects: npm run fsck\n');
}

function toRestorePoint({ snapshot, toTime }: Options): RestorePoint {
  if (toTime !== undefined) return { time: toTime };
  return snapshot === undefined ? undefined : { snapshot };
}

const megabytes = ({ sizeBytes }: { readonly sizeBytes: number }): string =>
  `${(sizeBytes / 1e6).toFixed(1)} MB`;
