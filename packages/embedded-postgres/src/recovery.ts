// Replays an archived log on a copied cluster, up to a moment (PostgreSQL documentation, 25.3.5).
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
  /** Undefined: to the end of the log. */
  readonly to: Date | undefined;
};

const REPLAYED = 'restored_log';
const POLL_MS = 100;

/**
 * Starts the server of a copied cluster, waits until it has replayed the log, and stops it. Returns the time
 * of the last change. Throws where the log ends before the moment.
 */
export async function replayLog(
  cluster: string,
  owner: ClusterLayout['owner'],
  recovery: Recovery,
): Promise<Date | undefined> {
  await prepareLog(cluster, owner, recovery);
  await writeFile(join(cluster, 'recovery.signal'), '');
  await chown(join(cluster, 'recovery.signal'), owner.uid, owner.gid);
  const layout = await layoutAt(cluster, owner);
  const { postgres } = await prepareBinaries(owner);
  const server = await startServer(layout, postgres, settingsOf(recovery)).catch(explain(recovery));
  try {
    return await readRecovered(layout).catch(async () => {
      // The server says why it ended.
      await server.stop();
      return explain(recovery)(await server.ended);
    });
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
const settingsOf = ({ to }: Recovery): Readonly<Record<string, string>> => ({
  restore_command: `gzip -dc "${REPLAYED}/%f.gz" > "%p"`,
  recovery_target_action: 'promote',
  ...(to && { recovery_target_time: to.toISOString().replace('Z', '+00') }),
});

const explain =
  ({ to }: Recovery) =>
  (error: Error): never => {
    const isShort = /recovery ended before configured recovery target was reached/.test(error.message);
    const [, last] = /last completed transaction was at log time ([^\n]+)/.exec(error.message) ?? [];
    if (!isShort) throw error;
    throw new Error(
      `The archived log ends before ${to?.toISOString()}${last ? `: its last change is of ${last}` : ''}. ` +
        'Restore to an earlier moment, or to "latest"',
      { cause: error },
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
