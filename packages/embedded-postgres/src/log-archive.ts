// Hands over the finished files of the write-ahead log, with which a copied cluster reaches any later moment.
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import type { EmbeddedPostgres } from './launcher.ts';

type RunningServer = Pick<EmbeddedPostgres, 'connection' | 'dataFolder'>;

/** A file of the log, which never changes again. `name` is that of PostgreSQL. */
export type LogFile = { readonly name: string; readonly path: string };

/** The server keeps the log of this slot until it was handed over. */
const SLOT = 'mediary_archive';
const SEGMENT = /^[0-9A-F]{24}$/;
/** Says from which timeline a restored cluster went on, and where. */
const HISTORY = /^[0-9A-F]{8}\.history$/;

/**
 * Makes the server keep its log from now on. Returns false where it did so already without a gap: the log
 * then continues what was handed over before.
 */
export const keepLog = (server: RunningServer): Promise<boolean> =>
  withClient(server, async (client) => {
    const { rows } = await client.query<{ wal_status: string | null }>(
      'select wal_status from pg_replication_slots where slot_name = $1',
      [SLOT],
    );
    if (rows[0] && rows[0].wal_status !== 'lost') return false;
    if (rows[0]) await client.query('select pg_drop_replication_slot($1)', [SLOT]);
    await client.query('select pg_create_physical_replication_slot($1, true)', [SLOT]);
    return true;
  });

/** Lets the server delete its log as it likes. */
export const dropLog = (server: RunningServer): Promise<void> =>
  withClient(server, async (client) => {
    await client.query(
      'select pg_drop_replication_slot(slot_name) from pg_replication_slots where slot_name = $1',
      [SLOT],
    );
  });

/**
 * Ends the current file of the log, if it has changes, and hands over all files that are finished. A file
 * whose `archive` failed is handed over again. Requires keepLog. Returns how many files there were. No
 * connection waits for `archive`, which may be slow.
 */
export async function archiveLog(
  server: RunningServer,
  archive: (file: LogFile) => Promise<void>,
): Promise<number> {
  const { first, current } = await switchLog(server);
  const folder = join(server.dataFolder, 'pg_wal');
  const names = (await readdir(folder)).sort();
  const finished = names.filter((name) => SEGMENT.test(name) && name >= first && name < current);
  if (finished.length === 0) return 0;
  for (const name of [...names.filter((each) => HISTORY.test(each)), ...finished]) {
    await archive({ name, path: join(folder, name) });
    if (SEGMENT.test(name)) await withClient(server, (client) => client.query(ADVANCE, [SLOT, name]));
  }
  return finished.length;
}

const switchLog = (server: RunningServer): Promise<LogBounds> =>
  withClient(server, async (client) => {
    await client.query('select pg_switch_wal()');
    const { rows } = await client.query<LogBounds>(BOUNDS, [SLOT]);
    if (!rows[0]) throw new Error('the server does not keep its log');
    return rows[0];
  });

type LogBounds = { readonly first: string; readonly current: string };

/** The names are those of the files that contain the byte after each position. */
const BOUNDS = `
  select pg_walfile_name(restart_lsn + 1) as first, pg_walfile_name(pg_current_wal_lsn() + 1) as current
    from pg_replication_slots
   where slot_name = $1 and wal_status <> 'lost'`;

/** To the end of a file. A slot never goes back, so an earlier position is left alone. */
const ADVANCE = `
  select pg_replication_slot_advance(slot_name, file.ends_at)
    from pg_replication_slots,
         pg_size_bytes(current_setting('wal_segment_size')) as size,
         lateral (select '0/0'::pg_lsn + (segment_number + 1) * size
                    from pg_split_walfile_name($2)) as file (ends_at)
   where slot_name = $1 and restart_lsn < file.ends_at`;

async function withClient<T>(
  { connection }: RunningServer,
  work: (client: pg.Client) => Promise<T>,
): Promise<T> {
  const client = new pg.Client({ ...connection, connectionTimeoutMillis: 10_000 });
  // A lost connection rejects the pending query; without this listener the event would end the process.
  client.on('error', () => {});
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}
