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
  /** `immediate`: to the end of the copy. `latest`: to the end of the log, on its newest timeline. */
  readonly to: Date | 'immediate' | 'latest';
};

/** The log of a timeline ends before the moment to recover to. */
export class ShortLogError extends Error {
  readonly hasOtherTimelines: boolean;

  constructor(message: string, options: ErrorOptions & { readonly hasOtherTimelines: boolean }) {
    super(message, options);
    this.hasOtherTimelines = options.hasOtherTimelines;
  }
}

const REPLAYED = 'restored_log';
const POLL_MS = 100;

export type Timeline = 'current' | 'latest';

/**
 * Starts the server of a copied cluster, waits until it has replayed the log, and stops it. The server goes
 * on on a new timeline, so its log never has the names of the log that was archived before. Returns the time
 * of the last change. Throws ShortLogError where the log ends before the moment.
 */
export async function replayLog(
  { cluster, owner }: Pick<ClusterLayout, 'cluster' | 'owner'>,
  recovery: Recovery,
  timeline: Timeline,
): Promise<Date | undefined> {
  const names = await prepareLog(cluster, owner, recovery);
  const throwExplained = explain(recovery, names);
  await writeFile(join(cluster, 'recovery.signal'), '');
  await chown(join(cluster, 'recovery.signal'), owner.uid, owner.gid);
  const layout = await layoutAt(cluster, owner);
  const { postgres } = await prepareBinaries(owner);
  const settings = settingsOf(recovery, timeline);
  const server = await startServer(layout, postgres, settings).catch(throwExplained);
  try {
    return await readRecovered(layout).catch(async () => {
      // The server says why it ended.
      await server.stop();
      return throwExplained(await server.ended);
    });
  } finally {
    await server.stop();
    await rm(join(cluster, REPLAYED), { recursive: true, force: true });
    if (layout.socketFolder !== cluster) await rm(layout.socketFolder, { recursive: true, force: true });
  }
}

/** Returns the names of the log's files. */
async function prepareLog(
  cluster: string,
  { uid, gid }: ClusterLayout['owner'],
  { fillLog }: Recovery,
): Promise<string[]> {
  const folder = join(cluster, REPLAYED);
  await mkdir(folder, { mode: 0o700 });
  await fillLog(folder);
  const names = await readdir(folder);
  for (const name of names) {
    await chmod(join(folder, name), 0o600);
    await chown(join(folder, name), uid, gid);
  }
  await chown(folder, uid, gid);
  return names;
}

/** The command runs in the folder of the cluster. PostgreSQL does not read the `Z` of a time here. */
const settingsOf = ({ to }: Recovery, timeline: Timeline): Readonly<Record<string, string>> => ({
  restore_command: `gzip -dc "${REPLAYED}/%f.gz" > "%p"`,
  recovery_target_action: 'promote',
  recovery_target_timeline: timeline,
  ...(to === 'immediate' && { recovery_target: to }),
  ...(to instanceof Date && { recovery_target_time: to.toISOString().replace('Z', '+00') }),
});

/** The second: the newest timeline left that of the copy before the copy was made. */
const SHORT = /recovery ended before configured recovery target was reached|is not a child of this server's/;

const explain =
  ({ to }: Recovery, names: readonly string[]) =>
  (error: Error): never => {
    if (!(to instanceof Date) || !SHORT.test(error.message)) throw error;
    const [, last] = /last completed transaction was at log time ([^\n]+)/.exec(error.message) ?? [];
    throw new ShortLogError(
      `The archived log ends before ${to.toISOString()}${last ? `: its last change is of ${last}` : ''}. ` +
        'Restore to an earlier moment, or to "latest"',
      { cause: error, hasOtherTimelines: names.some((name) => name.endsWith('.history.gz')) },
    );
  };

async function readRecovered(layout: ClusterLayout): Promise<Date | undefined> {
  const client = new pg.Client({ ...connectionTo(layout), database: 'postgres' });
  client.on('error', () => {});
  await client.connect();
  try {
    for (;;) {
      const { rows } = await client.query<{ recovering: boolean; last: Date | null }>(
        'select pg_is_in_recovery() as recovering, pg_last_xact_replay_timestamp() as last',
      );
      if (rows[0]?.recovering === false) return rows[0].last ?? undefined;
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    }
  } finally {
    await client.end();
  }
}
