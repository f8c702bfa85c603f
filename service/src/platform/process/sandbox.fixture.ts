// Runs shell scripts inside a sandbox, for its tests.
import { spawn } from 'node:child_process';
import type { ProcessLimits, Sandbox } from './sandbox.ts';

export const USER = { uid: 65_533, gid: 65_533 };
export const LIMITS: ProcessLimits = { cpuSeconds: 20, fileBytes: 2 ** 20, openFiles: 64 };
export const IS_ROOT = process.getuid?.() === 0;

export type RunOptions = { readonly limits?: Partial<ProcessLimits>; readonly cwd?: string };

/** Standard output and exit code of a shell script that runs in the sandbox. */
export async function runInside(sandbox: Sandbox, script: string, { limits, cwd = '/' }: RunOptions = {}) {
  const { file, args } = sandbox.command({ file: '/bin/sh', args: ['-c', script] }, { ...LIMITS, ...limits });
  const child = spawn(file, args, { env: {}, cwd, stdio: ['ignore', 'pipe', 'ignore'] });
  const { promise, resolve } = Promise.withResolvers<number | null>();
  child.on('close', resolve);
  const output = Buffer.concat(await child.stdout.toArray()).toString();
  return { output: output.trim(), code: await promise };
}
