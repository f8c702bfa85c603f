// Applies the numbered SQL migrations, each once and by one process at a time.
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import type { Connection } from './database.ts';

const FOLDER = join(import.meta.dirname, '../../../migrations');
const FILE = /^(\d{4})-[a-z0-9-]+\.sql$/;
/** An arbitrary constant that identifies the advisory lock of migrations. */
const LOCK_ID = 7_263_418_095;

/**
 * Applies missing migrations in order, each in its own transaction; returns the names of the applied files.
 */
export async function migrate(connection: Connection): Promise<string[]> {
  const client = new pg.Client({ ...connection, connectionTimeoutMillis: 10_000 });
  // A lost connection also fails the pending query. Without a listener the event would end the process.
  client.on('error', () => {});
  await client.connect();
  try {
    await client.query('select pg_advisory_lock($1)', [LOCK_ID]);
    return await applyMissing(client);
  } finally {
    await client.end();
  }
}

async function applyMissing(client: pg.Client): Promise<string[]> {
  await client.query(
    `create table if not exists migrations (number int primary key, name text not null,
                                            applied_at timestamptz not null default now())`,
  );
  const { rows } = await client.query<{ number: number }>('select number from migrations');
  const applied = new Set(rows.map((row) => row.number));
  const files = await migrationFiles();
  assertKnown(rows, files);
  const missing = files.filter((file) => !applied.has(file.number));
  for (const file of missing) await apply(client, file);
  return missing.map((file) => file.name);
}

type MigrationFile = { readonly number: number; readonly name: string };

/** A newer release may have changed the schema, so that this release could damage its data. */
function assertKnown(applied: readonly { number: number }[], files: readonly MigrationFile[]): void {
  const known = new Set(files.map(({ number }) => number));
  const unknown = applied.map(({ number }) => number).filter((number) => !known.has(number));
  if (unknown.length > 0)
    throw new Error(
      `The database belongs to a newer release: it has migration ${Math.max(...unknown)}, ` +
        `this release has only ${Math.max(...known)}. ` +
        "Start the newer release, or restore a backup of this release's database.",
    );
}

/** Numbers of the migrations of this release. */
export const listMigrations = async (): Promise<number[]> =>
  (await migrationFiles()).map(({ number }) => number);

async function migrationFiles(): Promise<MigrationFile[]> {
  const names = (await readdir(FOLDER)).filter((name) => name.endsWith('.sql')).sort();
  return names.map((name) => {
    const number = FILE.exec(name)?.[1];
    if (!number) throw new Error(`migration ${name} has no number`);
    return { number: Number(number), name };
  });
}

async function apply(client: pg.Client, file: MigrationFile): Promise<void> {
  const text = await readFile(join(FOLDER, file.name), 'utf8');
  await client.query('begin');
  try {
    await client.query(text);
    await client.query('insert into migrations (number, name) values ($1, $2)', [file.number, file.name]);
    await client.query('commit');
  } catch (error) {
    await client.query('rollback');
    throw new Error(`migration ${file.name} failed`, { cause: error });
  }
}
