// Stops a server whose service was killed, and cleans up the lock files of a killed server.
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chown, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { PORT, type ClusterLayout } from './layout.ts';
import { runProgram } from './program.ts';

/**
 * Requires the folder lock: a running server is then an orphan. Stopping it is as safe as adopting it, and is
 * simpler.
 */
export async function stopOrphanServer(layout: ClusterLayout, pgCtl: string): Promise<void> {
  if (await isServerRunning(layout.cluster)) await stopServerOf(layout, pgCtl);
  await neutralizeLockFiles(layout);
}

async function stopServerOf({ cluster, owner }: ClusterLayout, pgCtl: string): Promise<void> {
  try {
    await runProgram(owner, pgCtl, ['stop', '--pgdata', cluster, '--mode=fast', '--timeout=60']);
  } catch (error) {
    // It may have ended in the meantime.
    if (await isServerRunning(cluster)) throw error;
  }
}

async function isServerRunning(cluster: string): Promise<boolean> {
  const pid = await readPid(getLockFile(cluster));
  return pid !== undefined && (await readCommandLine(pid)).includes(cluster);
}

const getLockFile = (cluster: string) => join(cluster, 'postmaster.pid');

async function readPid(file: string): Promise<number | undefined> {
  if (!existsSync(file)) return undefined;
  return Number.parseInt(await readFile(file, 'utf8'), 10);
}

/** The command line of a process, because its id may have been reused. Empty when no process has the id. */
function readCommandLine(pid: number): Promise<string> {
  if (process.platform === 'linux') return readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
  return promisify(execFile)('ps', ['-o', 'command=', '-p', `${pid}`]).then(
    ({ stdout }) => stdout,
    () => '',
  );
}

/**
 * PostgreSQL refuses to start while the process id in the lock file is in use, even by another program. It
 * treats the id of its parent, which is this process, as stale. Its check for shared memory in use still
 * applies.
 */
async function neutralizeLockFiles({ cluster, owner, socketFolder }: ClusterLayout): Promise<void> {
  await rm(join(socketFolder, `.s.PGSQL.${PORT}.lock`), { force: true });
  const file = getLockFile(cluster);
  if (!existsSync(file)) return;
  const [, ...rest] = (await readFile(file, 'utf8')).split('\n');
  await writeFile(`${file}.new`, [process.pid, ...rest].join('\n'), { mode: 0o600 });
  await chown(`${file}.new`, owner.uid, owner.gid);
  await rename(`${file}.new`, file);
}
