// Lists what a service leaves on the machine: files, processes and rows.
import { readdir, readFile, readlink } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import { connectionOf } from '../postgres/test-databases.ts';
import { objectsIn } from '../store/test-store.ts';

/** Paths of all files below the folder that have this text in their path, and keys of a remote store. */
export async function filesNaming(folder: string, text = ''): Promise<string[]> {
  const keys = await objectsIn(folder);
  return [...(await filesBelow(folder)), ...keys].filter((path) => path.includes(text));
}

async function filesBelow(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return []; // Removed while we look.
    throw error;
  });
  const paths = await Promise.all(
    entries.map((entry) => {
      const path = join(folder, entry.name);
      return entry.isDirectory() ? filesBelow(path) : [path];
    }),
  );
  return paths.flat();
}

/** Originals of an asset in the store of a service. */
export async function originalFiles(dataDir: string, assetId: string): Promise<string[]> {
  const keys = await filesNaming(join(dataDir, 'objects'), `originals/${assetId}/`);
  return [...keys, ...(await filesNaming(join(dataDir, 'objects', 'originals'), `${assetId}_`))];
}

type Process = { readonly pid: number; readonly parent: number };

/** The parents of the processes that work on this asset: the workers that run an engine for it. */
export const encodersOf = async (assetId: string): Promise<ReadonlySet<number>> =>
  new Set((await processesNaming(assetId)).map(({ parent }) => parent));

/**
 * Processes with this text in their command line, or in the path of the folder they work in. The dead that
 * wait for their parent have neither.
 */
export async function processesNaming(text: string): Promise<Process[]> {
  const pids = (await readdir('/proc')).map(Number).filter((pid) => pid > 0 && pid !== process.pid);
  const found = await Promise.all(
    pids.map(async (pid) => {
      // The process may have ended, or belong to another user.
      const readProcess = async (name: string) => readFile(`/proc/${pid}/${name}`, 'utf8').catch(() => '');
      const [command, stat, folder] = await Promise.all([
        readProcess('cmdline'),
        readProcess('stat'),
        readlink(`/proc/${pid}/cwd`).catch(() => ''),
      ]);
      return command.includes(text) || folder.includes(text)
        ? [{ pid, parent: Number(stat.slice(stat.lastIndexOf(')')).split(' ')[2]) }]
        : [];
    }),
  );
  return found.flat();
}

/** A new connection costs the server more than the statements of most tests. */
const IDLE_MS = 1000;
const pools = new Map<string, pg.Pool>();

/** Asks the database of a running service. Statements may share a connection. */
export async function rows(
  dataDir: string,
  statement: string,
  values: unknown[] = [],
): Promise<Record<string, unknown>[]> {
  const { rows } = await poolOf(dataDir).query(statement, values);
  return rows;
}

function poolOf(dataDir: string): pg.Pool {
  const open = pools.get(dataDir);
  if (open) return open;
  const pool = new pg.Pool({
    ...connectionOf(dataDir),
    idleTimeoutMillis: IDLE_MS,
    allowExitOnIdle: true,
  });
  // The database of a service ends before an idle connection to it: the pool removes the connection.
  pool.on('error', () => pools.delete(dataDir));
  pools.set(dataDir, pool);
  return pool;
}

/**
 * What happened to an asset, in order. Without `asset.progress` and `asset.delayed`, which depend on the
 * speed of the machine.
 */
export const eventsOf = async (dataDir: string, assetId: string): Promise<string[]> =>
  (
    await rows(
      dataDir,
      `select type from events where asset_id = $1
         and type not in ('asset.progress', 'asset.delayed') order by revision, id`,
      [assetId],
    )
  ).map(({ type }) => String(type));

/** Jobs that still have something to do, or do it; not those that a later time starts. */
export const openJobs = async (dataDir: string): Promise<string[]> =>
  (
    await rows(
      dataDir,
      `select name from pgboss.job
        where (state in ('retry', 'active') or state = 'created' and start_after <= now())
          and name in ('encode-asset', 'encode-long', 'encode-rest', 'encode-long-rest', 'encode-divided',
                       'encode-chunk', 'deliver-report', 'process-image', 'purge-asset', 'take-over')`,
    )
  ).map(({ name }) => String(name));

/** Sends a signal to the processes that name a text. Those that end meanwhile need none. */
export async function signalProcesses(text: string, signal: 'SIGSTOP' | 'SIGCONT'): Promise<void> {
  for (const { pid } of await processesNaming(text))
    try {
      process.kill(pid, signal);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
    }
}
