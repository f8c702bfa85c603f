// Looks for what a service still knows of an owner: in every table, in the names of objects, and at hosts.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { filesNaming, rows } from './traces.ts';

/** Every row of every table, also of the job queue, whose text contains one of these. */
export async function rowsNaming(dataDir: string, texts: readonly string[]): Promise<string[]> {
  const tables = await rows(
    dataDir,
    `select format('%I.%I', schemaname, relname) as name from pg_stat_user_tables order by 1`,
  );
  const found: string[] = [];
  for (const { name } of tables) {
    const matching = await rows(
      dataDir,
      `select stored::text as text from ${String(name)} as stored
        where exists (select from unnest($1::text[]) as wanted
                       where strpos(stored::text, wanted) > 0
                          or strpos(stored::text, encode(wanted::bytea, 'hex')) > 0)`,
      [texts],
    );
    found.push(...matching.map(({ text }) => `${String(name)}: ${String(text).slice(0, 300)}`));
  }
  return found;
}

/** Objects whose key, or whose first megabyte, contains one of these. */
export async function objectsNaming(dataDir: string, texts: readonly string[]): Promise<string[]> {
  const keys = await filesNaming(join(dataDir, 'objects'));
  const found: string[] = [];
  for (const key of keys) {
    const bytes = await readFile(key).catch(() => Buffer.alloc(0));
    if (texts.some((text) => key.includes(text) || bytes.subarray(0, 1 << 20).includes(text)))
      found.push(key);
  }
  return found;
}
