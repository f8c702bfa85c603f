// Runs one of PostgreSQL's programs as the cluster's owner, and keeps its last words for the error.
import { execFile, type SpawnOptions } from 'node:child_process';
import { promisify } from 'node:util';
import type { Owner } from './postgres-owner.ts';

const execute = promisify(execFile);

/** An environment of its own: the owner may be another user, who must not see the service's secrets; messages come in English. */
const SURROUNDINGS = {
  cwd: '/',
  env: { PATH: '/usr/local/bin:/usr/bin:/bin', LC_ALL: 'C' },
} satisfies SpawnOptions;

export const runningAs = ({ uid, gid }: Owner) => ({ ...SURROUNDINGS, uid, gid });

export async function runProgram(owner: Owner, file: string, args: readonly string[]): Promise<void> {
  await execute(file, args, runningAs(owner)).catch((error: Error) => {
    const words = 'stderr' in error && typeof error.stderr === 'string' ? error.stderr : '';
    throw new Error(`${file} failed: ${lastWords(words) || error.message}`, { cause: error });
  });
}

export const lastWords = (text: string) => text.slice(-4096).trim();
