// Applies the numbered SQL migrations, each once and by one process at a time.
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type pg from 'pg';
import { type Connection, connectClient } from './connection.ts';

const FOLDER = join(import.meta.dirname, '../../../migrations');
const FILE = /^(\d{4})-[a-z0-9-]+\.sql$/;
/** An arbitrary constant that identifies the advisory lock of migrations. */
const LOCK_ID = 7_263_418_095;

/**
 * Applies missing migrations in order, each in its own transaction; returns the names of the applied files.
 */
export async function migrate(connection: Connection): Promise<string[]> {
  const client = await connectClient(connection, { connectionTimeoutMillis: 10_000 });
  try {
    await client.query('select pg_advisory_lock($1)', [LOCK_ID]);
    return await applyMissing(client);
  } finally {
    await client.end();
  }
}

async function applyMissing(client: pg.Client): Promise<string[]> {
  await client.query(
    `create table if not exists migrations (number int primary key, name text not null, sha256 text not null,
                                            applied_at timestamptz not null default now())`,
  );
  const { rows } = await client.query<AppliedMigration>(
    // Without a column of this name, as in early databases: null.
    "select number, to_jsonb(migrations) ->> 'sha256' as sha256 from migrations",
  );
  const applied = new Set(rows.map((row) => row.number));
  const files = await migrationFiles();
  assertKnown(rows, files);
  const missing = files.filter((file) => !applied.has(file.number));
  for (const file of missing) await apply(client, file);
  return missing.map((file) => file.name);
}

type MigrationFile = {
  readonly number: number;
  readonly name: string;
  readonly text: string;
  readonly sha256: string;
};
type AppliedMigration = { readonly number: number; readonly sha256: string | null };

/** A newer release may have changed the schema, so that this release could damage its data. */
function assertKnown(applied: readonly AppliedMigration[], files: readonly MigrationFile[]): void {
  const known = new Set(files.map(({ number }) => number));
  const unknown = applied.map(({ number }) => number).filter((number) => !known.has(number));
  if (unknown.length > 0)
    throw new Error(
      `The database belongs to a newer release: it has migration ${Math.max(...unknown)}, ` +
        `this release has only ${Math.max(...known)}. ` +
        "Start the newer release, or restore a backup of this release's database.",
    );
  const sha256 = new Map(applied.map((each) => [each.number, each.sha256]));
  const changed = files.find((file) => sha256.has(file.number) && sha256.get(file.number) !== file.sha256);
  if (changed)
    throw new Error(
      `The database was created by another version of migration ${changed.name}, so its tables may differ. ` +
        'Start with a new database, or start the commit that created this one.',
    );
}

/** Numbers of the migrations of this release. */
export const listMigrations = async (): Promise<number[]> =>
  (await migrationNames()).map(({ number }) => number);

const migrationFiles = async (): Promise<MigrationFile[]> =>
  Promise.all(
    (await migrationNames()).map(async (file) => {
      const text = await readFile(join(FOLDER, file.name), 'utf8');
      return { ...file, text, sha256: createHash('sha256').update(text).digest('hex') };
    }),
  );

async function migrationNames(): Promise<Pick<MigrationFile, 'number' | 'name'>[]> {
  const names = (await readdir(FOLDER)).filter((name) => name.endsWith('.sql')).sort();
  return names.map((name) => {
    const number = FILE.exec(name)?.[1];
    if (!number) throw new Error(`migration ${name} has no number`);
    return { number: Number(number), name };
  });
}

async function apply(client: pg.Client, { number, name, text, sha256 }: MigrationFile): Promise<void> {
  await client.query('begin');
  try {
    await client.query(text);
    await client.query('insert into migrations (number, name, sha256) values ($1, $2, $3)', [
      number,
      name,
      sha256,
    ]);
    await client.query('commit');
  } catch (error) {
    await client.query('rollback');
    throw new Error(`migration ${name} failed`, { cause: error });
  }
}
