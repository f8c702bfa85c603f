// Secrets that all processes of a database share: generated once and stored in the database.
import { randomBytes } from 'node:crypto';
import pg from 'pg';
import type { Connection } from './database.ts';

/** Returns the same value to every process; the first call generates it. */
export async function getStoredSecret(connection: Connection, name: string): Promise<string> {
  const client = new pg.Client({ ...connection, connectionTimeoutMillis: 10_000 });
  await client.connect();
  try {
    await client.query('insert into secrets (name, value) values ($1, $2) on conflict (name) do nothing', [
      name,
      randomBytes(32).toString('base64url'),
    ]);
    const {
      rows: [row],
    } = await client.query<{ value: string }>('select value from secrets where name = $1', [name]);
    if (!row) throw new Error(`the secret ${name} was not stored`);
    return row.value;
  } finally {
    await client.end();
  }
}
