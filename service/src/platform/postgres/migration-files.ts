// The numbered SQL migrations of this release, with what their first lines declare.
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

export const MIGRATIONS_FOLDER = join(import.meta.dirname, '../../../migrations');

export type MigrationFile = {
  readonly number: number;
  readonly name: string;
  readonly text: string;
  readonly sha256: string;
  /** A release whose last migration is this one, or a later one, may still run and start on the schema. */
  readonly oldestCompatible: number;
  /** The statements of a migration outside of a transaction: they build indexes concurrently. */
  readonly concurrent: readonly string[] | undefined;
};

const NAME = /^(\d{4})-[a-z0-9-]+\.sql$/;

export async function readMigrations(folder: string): Promise<MigrationFile[]> {
  const names = (await readdir(folder)).filter((name) => name.endsWith('.sql')).sort();
  return Promise.all(
    names.map(async (name) => parseMigration(name, await readFile(join(folder, name), 'utf8'))),
  );
}

function parseMigration(name: string, text: string): MigrationFile {
  const number = Number(NAME.exec(name)?.[1]);
  if (!number) throw new Error(`migration ${name} has no number`);
  const declared = /^-- compatible from: (\d{4})$/m.exec(text)?.[1];
  return {
    number,
    name,
    text,
    sha256: createHash('sha256').update(text).digest('hex'),
    oldestCompatible: Number(declared ?? number),
    concurrent: /^-- transaction: none$/m.test(text) ? parseConcurrent(name, text) : undefined,
  };
}

/** An interrupted build leaves an invalid index, so each is dropped before it is built. */
const CONCURRENT = /^(?:drop index concurrently if exists|create (?:unique )?index concurrently) /;

function parseConcurrent(name: string, text: string): string[] {
  const statements = text
    .replace(/^--.*$/gm, '')
    .split(';')
    .map((statement) => statement.trim())
    .filter(Boolean);
  const other = statements.find((statement) => !CONCURRENT.test(statement));
  if (other !== undefined)
    throw new Error(
      `migration ${name} has no transaction, so it may only have "drop index concurrently if exists" and ` +
        `"create index concurrently", not: ${other.slice(0, 60)}`,
    );
  return statements;
}
