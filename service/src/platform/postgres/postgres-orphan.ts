// Ends a server whose service was killed, and clears away what a killed server left.
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chown, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { PORT, type Place } from './postgres-place.ts';
import { runProgram } from './postgres-program.ts';

/** Demands the folder's lock: then a server that lives is nobody's. Ending it is as safe as adopting it, and leaves one way to run one. */
export async function endOrphan(place: Place, pgCtl: string): Promise<void> {
  if (await serverLives(place.cluster)) await stopOrphan(place, pgCtl);
  await disownLockFiles(place);
}

async function stopOrphan({ cluster, owner }: Place, pgCtl: string): Promise<void> {
  try {
    await runProgram(owner, pgCtl, ['stop', '--pgdata', cluster, '--mode=fast', '--timeout=60']);
  } catch (error) {
    // It may have ended by itself in between.
    if (await serverLives(cluster)) throw error;
  }
}

async function serverLives(cluster: string): Promise<boolean> {
  const pid = await pidIn(lockFileOf(cluster));
  return pid !== undefined && (await commandOf(pid)).includes(cluster);
}

const lockFileOf = (cluster: string) => join(cluster, 'postmaster.pid');

async function pidIn(file: string): Promise<number | undefined> {
  if (!existsSync(file)) return undefined;
  return Number.parseInt(await readFile(file, 'utf8'), 10);
}

/** How the process was started: by now the number may be another program's. Empty when there is none. */
function commandOf(pid: number): Promise<string> {
  if (process.platform === 'linux') return readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
  return promisify(execFile)('ps', ['-o', 'command=', '-p', `${pid}`]).then(
    ({ stdout }) => stdout,
    () => '',
  );
}

/**
 * A lock file names a process; if that number lives again as something else, PostgreSQL refuses to start for ever.
 * Our own number instead (its parent's) says "stale", and its check for memory still in use stays as it is.
 */
async function disownLockFiles({ cluster, owner, socketFolder }: Place): Promise<void> {
  await rm(join(socketFolder, `.s.PGSQL.${PORT}.lock`), { force: true });
  const file = lockFileOf(cluster);
  if (!existsSync(file)) return;
  const [, ...rest] = (await readFile(file, 'utf8')).split('\n');
  await writeFile(`${file}.new`, [process.pid, ...rest].join('\n'), { mode: 0o600 });
  await chown(`${file}.new`, owner.uid, owner.gid);
  await rename(`${file}.new`, file);
}
