// Secrets that a service on one machine makes once and keeps in its data folder, readable by its user alone.
import { randomBytes, randomUUID } from 'node:crypto';
import { chmod, link, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { restrict } from './private-folder.ts';

export type LocalSecrets = {
  readonly file: string;
  readonly values: Readonly<Record<string, string>>;
  /** For the operator: other users of this machine may know the secrets. */
  readonly warnings: readonly string[];
};

/** Answers a value for each name: kept from the first start on. */
export async function openLocalSecrets(folder: string, names: readonly string[]): Promise<LocalSecrets> {
  const file = join(folder, 'secrets.json');
  await mkdir(folder, { recursive: true });
  const kept = await read(file);
  const warnings = Object.keys(kept).length > 0 ? await closeFile(file) : [];
  const missing = names.filter((name) => typeof kept[name] !== 'string');
  if (missing.length === 0) return { file, values: kept, warnings };
  const values = {
    ...kept,
    ...Object.fromEntries(missing.map((name) => [name, randomBytes(32).toString('base64url')])),
  };
  await replace(file, JSON.stringify(values, null, 2), Object.keys(kept).length > 0);
  return { file, values: await read(file), warnings };
}

/** A file that was copied or restored may have lost its mode. */
async function closeFile(file: string): Promise<string[]> {
  const restriction = await restrict(file, 0o600);
  if (restriction === 'unchanged') return [];
  const state = restriction === 'restricted' ? 'was open to other users' : 'is open to other users';
  const next = restriction === 'restricted' ? 'Its mode is 0600 now.' : 'Its mode cannot be changed.';
  return [
    `${file} ${state}. ${next} If others use this machine, delete it and restart: new secrets are made.`,
  ];
}

async function read(file: string): Promise<Record<string, string>> {
  try {
    return JSON.parse(await readFile(file, 'utf8')) as Record<string, string>;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return {};
    throw new Error(`${file} cannot be read: ${error instanceof Error ? error.message : error}`, {
      cause: error,
    });
  }
}

/** Whole or not at all; of two first starts at once the first one's secrets stay. */
async function replace(file: string, text: string, isUpdate: boolean): Promise<void> {
  const fresh = `${file}.${randomUUID()}`;
  await writeFile(fresh, `${text}\n`, { mode: 0o600 });
  await chmod(fresh, 0o600);
  if (isUpdate) await rm(file);
  await link(fresh, file).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error;
  });
  await rm(fresh);
}
