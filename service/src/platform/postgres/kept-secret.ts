// A secret that all processes of one database share because none was set: made once, kept there.
import { randomBytes } from 'node:crypto';
import type { Database } from './database.ts';
import { sql } from './sql.ts';

/** The same text for every process, from the first that asks. */
export async function keptSecret(db: Database, name: string): Promise<string> {
  await db.one(sql('make secret')`insert into secrets (name, value) values (${name}, ${randomBytes(32).toString('base64url')}) on conflict (name) do nothing`);
  const row = await db.one(sql('read secret', { value: 'text' })`select value from secrets where name = ${name}`);
  if (!row) throw new Error(`the secret ${name} was not kept`);
  return row.value;
}
