// The service as operators run it: a process of its own, told by its environment, watched from outside, and
// killed.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import type { EmbeddedPostgres } from '@mediary/embedded-postgres/launcher';
import { urlOf } from '../postgres/postgres.ts';
import { TEST_SETTINGS } from '../service.ts';
import { storageOf } from '../store/test-store.ts';
import { processesNaming } from './traces.ts';

/** What processes share that work on one database and one store. */
type Shared = Readonly<Record<'DATABASE_URL' | 'DATA_DIR' | 'STORAGE_URL' | 'FFMPEG_PATH', string>>;

export const sharedBy = ({
  postgres,
  dataDir,
  ffmpegPath,
}: {
  postgres: Pick<EmbeddedPostgres, 'connection'>;
  dataDir: string;
  ffmpegPath: string;
}): Shared => ({
  DATABASE_URL: urlOf(postgres),
  DATA_DIR: dataDir,
  STORAGE_URL: `file:${dataDir}/objects`,
  ...storageOf(dataDir, { isDirect: false }),
  FFMPEG_PATH: ffmpegPath,
});

/** A worker has no callers, and needs none of their secrets. */
export const workerOf = (
  shared: Shared,
  api: ServiceProcess,
): Readonly<Record<string, string | undefined>> => ({
  ...shared,
  MEDIARY_ROLE: 'worker',
  ENCODER_CALLBACK_URL: new URL(api.url).origin,
  ACCESS_TOKEN_SECRET: undefined,
  SERVICE_API_KEY: undefined,
  OPERATOR_KEY: undefined,
});

const ROOT = resolve(import.meta.dirname, '../../..');
const NODE = [process.execPath, resolve(ROOT, 'service/start.js')] as const;
export const NPM = ['npm', 'start', '--silent'] as const;

export type ServiceProcess = {
  /** The URL of the API; empty for a worker. */
  readonly url: string;
  /** The URL of the health checks of a worker; undefined without HEALTH_PORT. */
  readonly healthUrl: string | undefined;
  readonly pid: number;
  readonly ended: Promise<Ending>;
  /** All of its log lines so far. */
  log(): string;
  /** Sends a signal to this very process and waits for its end. */
  end(signal: NodeJS.Signals): Promise<Ending>;
};
type Ending = { readonly code: number | null; readonly signal: NodeJS.Signals | null };

/**
 * Resolves once it says that it is there; settings of `environment` go over the defaults, undefined unsets
 * one.
 */
export async function startProcess(
  environment: Readonly<Record<string, string | undefined>>,
  command: readonly string[] = NODE,
): Promise<ServiceProcess> {
  const [program = '', ...args] = command;
  const env = {
    PATH: process.env['PATH'],
    HOME: process.env['HOME'],
    ...TEST_SETTINGS,
    ...storageOf(environment['DATA_DIR'] ?? '', { isDirect: false }),
    ...environment,
  };
  const child = spawn(program, args, { cwd: ROOT, env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
  const ended = once(child, 'close').then(([code, signal]): Ending => ({ code, signal }));
  const lines: string[] = [];
  const [address, healthUrl] = await Promise.race([
    welcome(child, lines),
    ended.then(({ code }) => {
      throw new Error(`the service ended with ${code} before it began: ${lines.at(-1)}`);
    }),
  ]);
  return {
    url: address && `${address}/api/v1`,
    healthUrl,
    pid: child.pid ?? 0,
    ended,
    log: () => lines.join('\n'),
    end: (signal) => {
      child.kill(signal);
      return ended;
    },
  };
}

type StartLine = { readonly address?: string; readonly health_address?: string };

/** What it says is kept and passed on, so that a failing test shows it. */
function welcome({ stdout, stderr }: ChildProcess, lines: string[]): Promise<[string, string | undefined]> {
  return new Promise((heard) => {
    let said = '';
    stderr?.on('data', (text) => process.stderr.write(text));
    stdout?.setEncoding('utf8').on('data', (text: string) => {
      said += text;
      const [started] = /^\{.*"msg":"service started"\}$/m.exec(said) ?? [];
      if (started !== undefined) {
        const { address = '', health_address } = JSON.parse(started) as StartLine;
        heard([address, health_address]);
      }
      const logged = text.split('\n').filter((line) => line.startsWith('{'));
      lines.push(...logged);
      for (const line of logged) process.stdout.write(`${line}\n`);
    });
  });
}

/** Ends whatever still runs out of this folder: a killed service leaves its database server. */
export async function endAllIn(folder: string): Promise<void> {
  for (const { pid } of await processesNaming(folder)) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // It ended in between.
    }
  }
}
