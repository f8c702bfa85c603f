// Runs the engine as a child that cannot outlive us, hang, or take all memory or disk.
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { availableParallelism, constants, setPriority } from 'node:os';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { createLimitsOnlySandbox, type ProcessLimits, type Sandbox } from '../../platform/process/sandbox.ts';
import { type EngineFiles, openEngineFiles } from './engine-files.ts';
import { type ExceededLimit, type EngineLimits, openWatch } from './engine-limits.ts';

export type EngineRun = {
  readonly path: string;
  /** Inputs are named `-i file:<path>`; nothing else is read. */
  readonly args: readonly string[];
  readonly sandbox?: Sandbox;
  /** All output lies below it, and it is the engine's working folder. */
  readonly folder?: string | undefined;
  /** Ends the engine at once; the promise rejects with the signal's reason. */
  readonly signal: AbortSignal;
  readonly limits: EngineLimits;
  /** Each line of the engine's standard output. Must not throw. */
  readonly onLine?: (line: string) => void;
  /** How much of the end of what it says on stderr is kept. */
  readonly logBytes?: number;
};

export type EngineEnd = {
  readonly ended: 'exited' | 'not_started' | ExceededLimit;
  readonly code: number;
  readonly log: string;
};

/**
 * The engine ignores SIGPIPE and, told to end with SIGTERM, may finish its files first. So a shell stands between: it starts the
 * engine when we say so, kills it when the pipe to us closes, in whatever way that comes about, and buries what it started.
 */
const GUARD = `
read -r start || exit 1
exec 9<&0
"$@" </dev/null 9<&- &
engine=$!
echo "engine_pid=$engine"
{ read -r end <&9; kill -9 "$engine"; } >/dev/null 2>&1 &
guard=$!
wait "$engine"
code=$?
kill -9 "$guard"
wait "$guard" 2>/dev/null
exit $code`;

const KILLED = 128 + constants.signals.SIGKILL;
const NOT_EXECUTABLE = 126;
const NOT_FOUND = 127;
const LOWER_PRIORITY = 10;
const LOG_BYTES = 64 * 1024;

type Guarded = ChildProcessByStdio<Writable, Readable, Readable>;

/** Resolves when the engine is gone, however it ended; rejects with the reason of the signal. */
export async function runFfmpeg(run: EngineRun): Promise<EngineEnd> {
  run.signal.throwIfAborted();
  const sandbox = run.sandbox ?? createLimitsOnlySandbox();
  const files = await openEngineFiles({ sandbox, args: run.args, folder: run.folder });
  try {
    const end = await runIn(sandbox, run, files);
    await files.check();
    return end;
  } finally {
    await files.close();
  }
}

async function runIn(
  sandbox: Sandbox,
  run: EngineRun,
  { args, cwd, inputs }: EngineFiles,
): Promise<EngineEnd> {
  const engine = sandbox.command({ file: run.path, args }, processLimits(run.limits));
  const child = spawn('/bin/sh', ['-c', GUARD, 'sh', engine.file, ...engine.args], {
    env: {},
    cwd,
    detached: true,
    stdio: ['pipe', 'pipe', 'pipe', ...inputs],
  }) as Guarded;
  const log = keepEnd(child.stderr, run.logBytes ?? LOG_BYTES);
  const watch = openWatch(run.limits, () => release(child));
  const onAbort = () => release(child);
  run.signal.addEventListener('abort', onAbort);
  createInterface(child.stdout).on('line', (line) => {
    watch.read(line);
    run.onLine?.(line);
  });
  try {
    const code = await ending(child);
    run.signal.throwIfAborted();
    return { ended: watch.broken() ?? meaningOf(code, log()), code, log: log() };
  } finally {
    watch.close();
    run.signal.removeEventListener('abort', onAbort);
  }
}

/** Files that no limit names are small: pictures and lists. */
const FILE_BYTES = 2 * 1024 ** 3;
const OPEN_FILES = 256;

/** The wall clock ends an engine first, unless it was held up. */
const processLimits = ({ wallMs, memoryBytes, output }: EngineLimits): ProcessLimits => ({
  cpuSeconds: (wallMs / 1000) * availableParallelism(),
  fileBytes: output?.bytes ?? FILE_BYTES,
  openFiles: OPEN_FILES,
  addressBytes: memoryBytes,
});

/** What the engine and the C library say when the limit of memory is reached; the engine may go on with what it has. */
const NO_MEMORY = /Cannot allocate memory|malloc of size \d+ failed|std::bad_alloc|Out of memory/;

/** Exit codes of the shell; SIGKILL that did not come from us came from the system, short of memory. */
function meaningOf(code: number, log: string): EngineEnd['ended'] {
  if (code === NOT_EXECUTABLE || code === NOT_FOUND) return 'not_started';
  if (code === KILLED || NO_MEMORY.test(log)) return 'out_of_memory';
  if (code === 128 + constants.signals.SIGXCPU) return 'timed_out';
  return code === 128 + constants.signals.SIGXFSZ ? 'output_too_large' : 'exited';
}

/** Resolves with the exit code when the process is gone and its output is read to the end. */
function ending(child: Guarded): Promise<number> {
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('exit', () => endGroup(child));
    child.on('close', (code) => resolve(code ?? KILLED));
    child.on('spawn', () => start(child));
  });
}

/** Before the engine exists, so that all its threads inherit it. */
function start(child: Guarded): void {
  child.stdin.on('error', () => {}); // The shell is gone already; its exit tells.
  try {
    if (child.pid !== undefined) setPriority(child.pid, LOWER_PRIORITY);
  } catch {
    // Not every system lets us; the engine then competes with us, and works.
  }
  child.stdin.write('start\n');
}

const release = (child: Guarded): void => void child.stdin.destroy();

/** Only finds anything where the shell itself was killed. */
function endGroup(child: Guarded): void {
  release(child);
  try {
    if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
  } catch {
    // No such group: everything has ended, as it should.
  }
}

function keepEnd(stream: Readable, bytes: number): () => string {
  let kept = '';
  stream.setEncoding('utf8').on('data', (text: string) => {
    kept = (kept + text).slice(-bytes);
  });
  return () => kept;
}
