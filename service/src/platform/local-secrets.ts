// Secrets that a service on one machine makes once and keeps in its data folder, readable by its user alone.
import { randomBytes, randomUUID } from 'node:crypto';
import { chmod, link, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

export type LocalSecrets = { readonly file: string; readonly values: Readonly<Record<string, string>> };

/** Answers a value for each name: kept from the first start on. */
export async function localSecrets(folder: string, names: readonly string[]): Promise<LocalSecrets> {
  const file = join(folder, 'secrets.json');
  await mkdir(folder, { recursive: true });
  const kept = await read(file);
  const missing = names.filter((name) => typeof kept[name] !== 'string');
  if (missing.length === 0) return { file, values: kept };
  const values = {
    ...kept,
    ...Object.fromEntries(missing.map((name) => [name, randomBytes(32).toString('base64url')])),
  };
  await replace(file, JSON.stringify(values, null, 2), Object.keys(kept).length > 0);
  return { file, values: await read(file) };
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
