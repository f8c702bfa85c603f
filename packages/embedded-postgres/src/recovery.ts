// Recovers a copied cluster, up to a moment of its archived log (PostgreSQL documentation, 25.3.5).
import { chmod, chown, mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import { prepareBinaries } from './binaries.ts';
import { connectionTo } from './launcher.ts';
import { type ClusterLayout, layoutAt } from './layout.ts';
import { startServer } from './server-process.ts';

export type Recovery = {
  /** Writes the archived files of the log into a folder, each compressed, under its name with `.gz`. */
  readonly fillLog: (folder: string) => Promise<unknown>;
  /** `immediate`: to the end of the copy. `latest`: to the end of the log. */
  readonly to: Date | 'immediate' | 'latest';
  /** Must be reached from the copy. Default: the newest one for `latest`, else that of the copy. */
  readonly timeline?: number;
  /** A time of PostgreSQL. A log whose last change up to `to` is older does not reach the moment. */
  readonly since?: string | undefined;
};

/** The log of a timeline ends before the moment to recover to. */
export class ShortLogError extends Error {
  /** A time of PostgreSQL; undefined where the log had no change. */
  readonly lastChange: string | undefined;

  constructor(to: Date, lastChange: string | undefined, options?: ErrorOptions) {
    const last = lastChange === undefined ? '' : `: its last change is of ${lastChange}`;
    const advice = 'Restore to an earlier moment, or to "latest"';
    super(`The archived log ends before ${to.toISOString()}${last}. ${advice}`, options);
    this.lastChange = lastChange;
  }
}

const REPLAYED = 'restored_log';
const POLL_MS = 100;

/**
 * Starts the server of a copied cluster, waits until it has replayed the log, and stops it. The server goes
 * on on a new timeline, so its log never has the names of the log that was archived before. Returns the time
 * of the last change. Throws ShortLogError where the log ends before the moment.
 */
export async function replayLog(
  { cluster, owner }: Pick<ClusterLayout, 'cluster' | 'owner'>,
  recovery: Recovery,
): Promise<Date | undefined> {
  await prepareLog(cluster, owner, recovery);
  const throwExplained = explain(recovery);
  await writeFile(join(cluster, 'recovery.signal'), '');
  await chown(join(cluster, 'recovery.signal'), owner.uid, owner.gid);
  const layout = await layoutAt(cluster, owner);
  const { postgres } = await prepareBinaries(owner);
  const server = await startServer(layout, postgres, settingsOf(recovery)).catch(throwExplained);
  try {
    const { last, isShort } = await readRecovered(layout, recovery).catch(async () => {
      // The server says why it ended.
      await server.stop();
      return throwExplained(await server.ended);
    });
    if (isShort && recovery.to instanceof Date) throw new ShortLogError(recovery.to, recovery.since);
    return last ?? undefined;
  } finally {
    await server.stop();
    await rm(join(cluster, REPLAYED), { recursive: true, force: true });
    if (layout.socketFolder !== cluster) await rm(layout.socketFolder, { recursive: true, force: true });
  }
}

async function prepareLog(
  cluster: string,
  { uid, gid }: ClusterLayout['owner'],
  { fillLog }: Recovery,
): Promise<void> {
  const folder = join(cluster, REPLAYED);
  await mkdir(folder, { mode: 0o700 });
  await fillLog(folder);
  for (const name of await readdir(folder)) {
    await chmod(join(folder, name), 0o600);
    await chown(join(folder, name), uid, gid);
  }
  await chown(folder, uid, gid);
}

/** The command runs in the folder of the cluster. PostgreSQL does not read the `Z` of a time here. */
const settingsOf = ({ to, timeline }: Recovery): Readonly<Record<string, string>> => ({
  restore_command: `gzip -dc "${REPLAYED}/%f.gz" > "%p"`,
  recovery_target_action: 'promote',
  recovery_target_timeline: String(timeline ?? (to === 'latest' ? 'latest' : 'current')),
  ...(to === 'immediate' && { recovery_target: to }),
  ...(to instanceof Date && { recovery_target_time: to.toISOString().replace('Z', '+00') }),
});

const SHORT = 'recovery ended before configured recovery target was reached';

const explain =
  ({ to }: Recovery) =>
  (error: Error): never => {
    if (!(to instanceof Date) || !error.message.includes(SHORT)) throw error;
    const [, last] = /last completed transaction was at log time ([^\n]+)/.exec(error.message) ?? [];
    throw new ShortLogError(to, last, { cause: error });
  };

type Recovered = { readonly recovering: boolean; readonly last: Date | null; readonly isShort: boolean };

const RECOVERED = `
  select pg_is_in_recovery() as recovering, last,
         $1::text is not null and coalesce(last < $1::timestamptz, true) as "isShort"
    from pg_last_xact_replay_timestamp() as last`;

async function readRecovered(layout: ClusterLayout, { since }: Recovery): Promise<Recovered> {
  const client = new pg.Client({ ...connectionTo(layout), database: 'postgres' });
  client.on('error', () => {});
  await client.connect();
  try {
    for (;;) {
      const { rows } = await client.query<Recovered>(RECOVERED, [since ?? null]);
      if (rows[0]?.recovering === false) return rows[0];
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    }
  } finally {
    await client.end();
  }
}
