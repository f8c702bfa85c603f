// Secrets that the service generates once: of one machine in its data folder, of several in their database.
import { randomBytes, randomUUID } from 'node:crypto';
import { chmod, link, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { restrict } from '../disk/data-folder.ts';
import { syncFolder } from '../disk/sync-folder.ts';
import type { Queries } from '../postgres/database.ts';
import { sql } from '../postgres/sql.ts';

export type LocalSecrets = {
  readonly file: string;
  readonly values: Readonly<Record<string, string>>;
  /** For the operator: other users of this machine may have read the secrets. */
  readonly warnings: readonly string[];
};

const generateSecret = (): string => randomBytes(32).toString('base64url');

/** Returns a value for each name; values do not change after the first start. The file has mode 0600. */
export async function openLocalSecrets(folder: string, names: readonly string[]): Promise<LocalSecrets> {
  const file = join(folder, 'secrets.json');
  await mkdir(folder, { recursive: true });
  const stored = await readSecrets(file);
  const warnings = Object.keys(stored).length > 0 ? await restrictFile(file) : [];
  const missing = names.filter((name) => typeof stored[name] !== 'string');
  if (missing.length === 0) return { file, values: stored, warnings };
  const values = {
    ...stored,
    ...Object.fromEntries(missing.map((name) => [name, generateSecret()])),
  };
  await replaceFile(file, JSON.stringify(values, null, 2), Object.keys(stored).length > 0);
  return { file, values: await readSecrets(file), warnings };
}

/** Copying or restoring a file may change its mode. */
async function restrictFile(file: string): Promise<string[]> {
  const restriction = await restrict(file, 0o600);
  if (restriction === 'unchanged') return [];
  const state = restriction === 'restricted' ? 'was open to other users' : 'is open to other users';
  const next = restriction === 'restricted' ? 'Its mode is 0600 now.' : 'Its mode cannot be changed.';
  return [
    `${file} ${state}. ${next} If others use this machine, delete it and restart: new secrets are generated.`,
  ];
}

async function readSecrets(file: string): Promise<Record<string, string>> {
  try {
    return JSON.parse(await readFile(file, 'utf8')) as Record<string, string>;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return {};
    throw new Error(`${file} cannot be read: ${error instanceof Error ? error.message : error}`, {
      cause: error,
    });
  }
}

/**
 * Atomic and durable: after a kill or a power cut the file has the old or the new content. When two processes
 * start for the first time together, the secrets of the first remain.
 */
async function replaceFile(file: string, text: string, isUpdate: boolean): Promise<void> {
  const fresh = `${file}.${randomUUID()}`;
  await writeFile(fresh, `${text}\n`, { mode: 0o600, flush: true });
  await chmod(fresh, 0o600);
  if (isUpdate) await rename(fresh, file);
  else await linkUnlessExists(fresh, file);
  await syncFolder(dirname(file));
}

async function linkUnlessExists(fresh: string, file: string): Promise<void> {
  await link(fresh, file).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error;
  });
  await rm(fresh);
}

/** Returns the same value to every process of the database; the first call generates it. */
export async function getStoredSecret(db: Queries, name: string): Promise<string> {
  await db.one(sql('store secret')`
    insert into secrets (name, value) values (${name}, ${generateSecret()}) on conflict (name) do nothing`);
  const value = await findStoredSecret(db, name);
  if (value === undefined) throw new Error(`the secret ${name} was not stored`);
  return value;
}

/** Undefined if it was never generated. */
export async function findStoredSecret(db: Queries, name: string): Promise<string | undefined> {
  const row = await db.one(
    sql('find secret', { value: 'text' })`select value from secrets where name = ${name}`,
  );
  return row?.value;
}
