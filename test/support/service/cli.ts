// The `mediary` command as a process of its own, with its own home folder.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';

const PROGRAM = resolve(import.meta.dirname, '../../../packages/cli/bin/mediary.js');

export type CliRun = { readonly code: number | null; readonly stdout: string; readonly stderr: string };

export type CliOptions = {
  readonly folder: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly input?: string;
  /** Sent when this text is on stdout or stderr. */
  readonly interrupt?: { readonly after: string; readonly signal: NodeJS.Signals };
  /** Closes the pipe of stdout before the command writes to it. */
  readonly hasNoReader?: boolean;
};

export async function runCli(
  args: readonly string[],
  { folder, env, input = '', interrupt, hasNoReader = false }: CliOptions,
): Promise<CliRun> {
  const child = spawn(process.execPath, [PROGRAM, ...args], {
    cwd: folder,
    env: { PATH: process.env['PATH'], HOME: folder, NO_COLOR: '1', ...env },
  });
  const texts = { stdout: '', stderr: '' };
  let isInterrupted = false;
  for (const name of ['stdout', 'stderr'] as const)
    child[name].setEncoding('utf8').on('data', (text: string) => {
      texts[name] += text;
      if (isInterrupted || !interrupt || !texts[name].includes(interrupt.after)) return;
      isInterrupted = true;
      child.kill(interrupt.signal);
    });
  if (hasNoReader) child.stdout.destroy();
  child.stdin.end(input);
  const [code] = await once(child, 'close');
  return { code, ...texts };
}
