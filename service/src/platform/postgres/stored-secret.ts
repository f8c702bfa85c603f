// A secret that all processes of one database share because none was set: made once, kept there.
import { randomBytes } from 'node:crypto';
import pg from 'pg';
import type { Connection } from './database.ts';

/** The same text for every process, from the first that asks. At the start a busy database is waited for longer than a request would. */
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
    if (!row) throw new Error(`the secret ${name} was not kept`);
    return row.value;
  } finally {
    await client.end();
  }
}
