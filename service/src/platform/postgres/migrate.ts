// Applies the numbered SQL migrations, each once and by one process at a time.
import { hostname } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import { type Connection, connectClient } from './connection.ts';
import { type MigrationFile, MIGRATIONS_FOLDER, readMigrations } from './migration-files.ts';

/** An arbitrary constant that identifies the advisory lock of migrations. */
const LOCK_ID = 7_263_418_095;
const LOCK_RETRY_MS = 250;
/** Statements of requests queue behind a migration that waits for a table; they time out after 4 s. */
const TABLE_LOCK_TIMEOUT_MS = 2000;
const TABLE_LOCK_ATTEMPTS = 30;
const TABLE_LOCK_PAUSE_MS = 1000;

type MigrateOptions = {
  readonly folder?: string;
  /** Called with a sentence for people, once for each process that this one waits for. */
  readonly onWait?: (message: string) => void;
  /** Runs after the last migration, while other processes still wait. */
  readonly finish?: () => Promise<void>;
};

/**
 * Applies missing migrations in order, each in a transaction of its own or without one; returns the names of
 * the applied files.
 */
export const migrate = (
  connection: Connection,
  { folder = MIGRATIONS_FOLDER, onWait = () => {}, finish = async () => {} }: MigrateOptions = {},
): Promise<string[]> =>
  withClient(connection, async (client) => {
    await lockMigrations(client, onWait);
    await client.query(CREATE_TABLE);
    const missing = await findMissing(client, folder);
    for (const file of missing) await apply(client, file);
    await finish();
    return missing.map(({ name }) => name);
  });

/** What `migrate` would apply. Changes nothing, and needs no right but to read. */
export const planMigrations = (
  connection: Connection,
  folder = MIGRATIONS_FOLDER,
): Promise<MigrationFile[]> => withClient(connection, (client) => findMissing(client, folder));

/** For a role that cannot migrate. */
export async function assertMigrated(connection: Connection, folder = MIGRATIONS_FOLDER): Promise<void> {
  const missing = await planMigrations(connection, folder);
  if (missing.length > 0)
    throw new Error(
      `The database lacks the migrations ${missing.map(({ name }) => name).join(', ')}. Run "npm run ` +
        'migrate" with a role that owns the tables, or start with MIGRATE_AT_START=on.',
    );
}

/** Numbers of the migrations of this release. */
export const listMigrations = async (): Promise<number[]> =>
  (await readMigrations(MIGRATIONS_FOLDER)).map(({ number }) => number);

async function withClient<T>(connection: Connection, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = await connectClient(connection, { connectionTimeoutMillis: 10_000 });
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

/** A statement that waits for the lock would have a snapshot, for which concurrent builds of indexes wait. */
async function lockMigrations(client: pg.Client, onWait: (message: string) => void): Promise<void> {
  // Processes that wait read the name of this host, such as that of a pod.
  await client.query("select set_config('application_name', $1, false)", [`mediary on ${hostname()}`]);
  let last: number | undefined;
  for (;;) {
    const { rows } = await client.query('select pg_try_advisory_lock($1) as is_locked', [LOCK_ID]);
    if (rows[0]?.is_locked) return;
    const [holder] = (await client.query<LockHolder>(FIND_HOLDER, [LOCK_ID])).rows;
    if (holder && holder.pid !== last) onWait(describeWait(holder));
    last = holder?.pid ?? last;
    await delay(LOCK_RETRY_MS);
  }
}

type LockHolder = {
  readonly pid: number;
  /** Empty or null where the role may not see it. */
  readonly application_name: string | null;
  readonly usename: string | null;
  readonly address: string | null;
  readonly since: Date | null;
};

/** The lock of a number is split into its upper and lower 32 bits. */
const FIND_HOLDER = `
  select activity.pid, application_name, usename, host(client_addr) as address, backend_start as since
    from pg_locks join pg_stat_activity as activity on activity.pid = pg_locks.pid
   where locktype = 'advisory' and granted and objsubid = 1
     and pg_locks.database = (select oid from pg_database where datname = current_database())
     and classid::bigint = $1::bigint >> 32 and objid::bigint = $1::bigint & 4294967295`;

const describeWait = ({ pid, application_name: name, usename, address, since }: LockHolder): string => {
  const from = address === null ? '' : ` from ${address}`;
  const start = since === null ? '' : `, connected since ${since.toISOString()}`;
  return (
    `Another process migrates this database; this one waits for it: ${name || 'unnamed process'}${from} ` +
    `(role ${usename ?? 'unknown'}, process ${pid} of the database server${start}).`
  );
};

const CREATE_TABLE = `
  create table if not exists migrations (number int primary key, name text not null, sha256 text not null,
                                         oldest_compatible int,
                                         applied_at timestamptz not null default now())`;

async function findMissing(client: pg.Client, folder: string): Promise<MigrationFile[]> {
  const files = await readMigrations(folder);
  const { rows: tables } = await client.query("select to_regclass('migrations') is not null as is_there");
  if (!tables[0]?.is_there) return files;
  const { rows } = await client.query<AppliedMigration>(
    // Without columns of these names, as in early databases: null.
    `select number, to_jsonb(migrations) ->> 'sha256' as sha256,
            (to_jsonb(migrations) ->> 'oldest_compatible')::int as oldest_compatible
       from migrations order by number`,
  );
  assertKnown(rows, files);
  const applied = new Set(rows.map(({ number }) => number));
  return files.filter(({ number }) => !applied.has(number));
}

type AppliedMigration = {
  readonly number: number;
  readonly sha256: string | null;
  readonly oldest_compatible: number | null;
};

/** A newer release may have changed the schema, so that this release could damage its data. */
function assertKnown(applied: readonly AppliedMigration[], files: readonly MigrationFile[]): void {
  const last = Math.max(0, ...files.map(({ number }) => number));
  const incompatible = applied.filter(
    ({ number, oldest_compatible: oldest }) => number > last && (oldest ?? number) > last,
  );
  if (incompatible.length > 0)
    throw new Error(
      `The database belongs to a newer release: it has migration ${incompatible.at(-1)?.number}, ` +
        `this release has only ${last}. ` +
        "Start the newer release or the one before it, or restore a backup of this release's database.",
    );
  const sha256 = new Map(applied.map((each) => [each.number, each.sha256]));
  const changed = files.find((file) => sha256.has(file.number) && sha256.get(file.number) !== file.sha256);
  if (changed)
    throw new Error(
      `The database was created by another version of migration ${changed.name}, so its tables may differ. ` +
        'Start with a new database, or start the commit that created this one.',
    );
}

const LOCK_NOT_AVAILABLE = '55P03';

async function apply(client: pg.Client, file: MigrationFile): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await (file.concurrent ? runConcurrent(client, file.concurrent, file) : runAtOnce(client, file));
    } catch (error) {
      if ((error as { code?: unknown }).code !== LOCK_NOT_AVAILABLE || attempt === TABLE_LOCK_ATTEMPTS)
        throw new Error(`migration ${file.name} failed`, { cause: error });
      await delay(TABLE_LOCK_PAUSE_MS);
    }
  }
}

async function runAtOnce(client: pg.Client, file: MigrationFile): Promise<void> {
  await client.query('begin');
  try {
    await client.query(`set local lock_timeout = ${TABLE_LOCK_TIMEOUT_MS}`);
    await client.query(file.text);
    await record(client, file);
    await client.query('commit');
  } catch (error) {
    await client.query('rollback');
    throw error;
  }
}

/** Concurrent builds block neither readers nor writers, and wait for old transactions without a limit. */
async function runConcurrent(
  client: pg.Client,
  statements: readonly string[],
  file: MigrationFile,
): Promise<void> {
  for (const statement of statements) await client.query(statement);
  await record(client, file);
}

async function record(client: pg.Client, file: MigrationFile): Promise<void> {
  await client.query(
    'insert into migrations (number, name, sha256, oldest_compatible) values ($1, $2, $3, $4)',
    [file.number, file.name, file.sha256, file.oldestCompatible],
  );
}
