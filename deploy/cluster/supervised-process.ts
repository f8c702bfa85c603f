// Keeps one process running: logs into a file, waits until it is ready, and starts it again when it ends.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, fstatSync, openSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

export type Report = (message: string) => void;

export type ProcessSpec = {
  readonly name: string;
  readonly command: readonly string[];
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly logFolder: string;
  /** `output`: what this run has logged so far. */
  readonly isReady: (output: string) => boolean | Promise<boolean>;
  readonly stopSignal?: NodeJS.Signals;
};

export type Supervised = {
  readonly name: string;
  /** Undefined between two runs. */
  pid(): number | undefined;
  /** Number of starts so far. */
  starts(): number;
  /** Stops the process, starts it, and waits until it is ready. */
  restart(): Promise<void>;
  stop(): Promise<void>;
};

const FIRST_DELAY_MS = 200;
const MAX_DELAY_MS = 5000;
/** A run of this length counts as successful: the next delay is the first one again. */
const STABLE_MS = 10_000;

/** Returns the delay before the next start, given how long the last run was. */
export function createBackoff(): (ranForMs: number) => number {
  let failures = 0;
  return (ranForMs) => {
    failures = ranForMs >= STABLE_MS ? 0 : failures + 1;
    return Math.min(FIRST_DELAY_MS * 2 ** Math.max(failures - 1, 0), MAX_DELAY_MS);
  };
}

type Run = { readonly child: ChildProcess; readonly ready: Promise<void>; readonly ended: Promise<string> };

/** Resolves when the process is ready for the first time. */
export async function supervise(spec: ProcessSpec, report: Report): Promise<Supervised> {
  let run = startRun(spec);
  let starts = 1;
  let isStopped = false;
  let isRestarting = false;
  const keepRunning = async () => {
    const nextDelay = createBackoff();
    while (!isStopped) {
      const startedAt = performance.now();
      const ending = await run.ended;
      endGroup(run);
      if (isStopped) return;
      if (!isRestarting) {
        const waitMs = nextDelay(performance.now() - startedAt);
        report(`${spec.name} ended (${ending}); it starts again in ${waitMs / 1000} s`);
        await delay(waitMs);
        if (isStopped) return;
      }
      run = startRun(spec);
      starts += 1;
    }
  };
  const { stopSignal = 'SIGTERM' } = spec;
  await run.ready;
  void keepRunning();
  return {
    name: spec.name,
    pid: () => ((run.child.exitCode ?? run.child.signalCode) === null ? run.child.pid : undefined),
    starts: () => starts,
    restart: async () => {
      const before = starts;
      isRestarting = true;
      await endRun(run, stopSignal);
      while (starts === before && !isStopped) await delay(POLL_MS);
      isRestarting = false;
      await run.ready;
    },
    stop: async () => {
      isStopped = true;
      await endRun(run, stopSignal);
    },
  };
}

/** Its own session: Ctrl-C in a terminal reaches only the supervisor, which stops all in order. */
function startRun(spec: ProcessSpec): Run {
  const file = join(spec.logFolder, `${spec.name}.log`);
  const log = openSync(file, 'a');
  const { size: before } = fstatSync(log);
  // The kernel ends the process when the supervisor is killed.
  const child = spawn('setpriv', ['--pdeathsig', 'TERM', '--', ...spec.command], {
    env: spec.environment as NodeJS.ProcessEnv,
    detached: true,
    stdio: ['ignore', log, log],
  });
  closeSync(log);
  const ended = once(child, 'exit').then(
    ([code, signal]) => String(signal ?? `exit code ${code}`),
    (error: Error) => error.message,
  );
  const ready = waitUntilReady(spec, ended, () => readFrom(file, before));
  // A run that never becomes ready is reported by its end.
  ready.catch(() => {});
  return { child, ready, ended };
}

const POLL_MS = 50;
const READY_TIMEOUT_MS = 120_000;
const STOP_TIMEOUT_MS = 60_000;

async function waitUntilReady(
  { name, isReady, logFolder }: ProcessSpec,
  ended: Promise<string>,
  readOutput: () => Promise<string>,
): Promise<void> {
  let ending: string | undefined;
  void ended.then((reason) => {
    ending = reason;
  });
  for (const end = Date.now() + READY_TIMEOUT_MS; ; await delay(POLL_MS)) {
    if (ending !== undefined)
      throw new Error(`${name} ended (${ending}) before it was ready: see ${logFolder}/${name}.log`);
    if (await isReady(await readOutput())) return;
    if (Date.now() > end) throw new Error(`${name} is not ready: see ${logFolder}/${name}.log`);
  }
}

async function readFrom(file: string, start: number): Promise<string> {
  await using handle = await open(file);
  const { size } = await handle.stat();
  const { buffer, bytesRead } = await handle.read({
    buffer: Buffer.alloc(Math.max(size - start, 0)),
    position: start,
  });
  return buffer.toString('utf8', 0, bytesRead);
}

/** As systemd does: processes of a killed nginx would keep its port, and those of a decoder its files. */
function endGroup({ child: { pid } }: Run): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch (error) {
    // The group ended with its first process.
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

async function endRun({ child, ended }: Run, signal: NodeJS.Signals): Promise<void> {
  child.kill(signal);
  const kill = setTimeout(() => child.kill('SIGKILL'), STOP_TIMEOUT_MS);
  await ended;
  clearTimeout(kill);
}
