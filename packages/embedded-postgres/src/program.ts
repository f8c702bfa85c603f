// Runs a PostgreSQL program as the cluster's owner; errors contain the end of its stderr.
import { execFile, type SpawnOptions } from 'node:child_process';
import { promisify } from 'node:util';
import type { Owner } from './owner.ts';

const execute = promisify(execFile);

/**
 * A minimal environment: the owner may be another user, who must not see the service's secrets. LC_ALL=C
 * gives English messages.
 */
const SPAWN_OPTIONS = {
  cwd: '/',
  env: { PATH: '/usr/local/bin:/usr/bin:/bin', LC_ALL: 'C' },
} satisfies SpawnOptions;

export const getSpawnOptions = ({ uid, gid }: Owner) => ({ ...SPAWN_OPTIONS, uid, gid });

export async function runProgram(owner: Owner, file: string, args: readonly string[]): Promise<void> {
  await execute(file, args, getSpawnOptions(owner)).catch((error: Error) => {
    const stderr = 'stderr' in error && typeof error.stderr === 'string' ? error.stderr : '';
    throw new Error(`${file} failed: ${tailOf(stderr) || error.message}`, { cause: error });
  });
}

export const tailOf = (text: string) => text.slice(-4096).trim();
