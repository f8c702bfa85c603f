// Runs ffmpeg as a child process that is killed when the service exits or a limit is exceeded.
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { availableParallelism, constants, setPriority } from 'node:os';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import {
  createLimitsOnlySandbox,
  type ProcessLimits,
  type Sandbox,
} from '../../../platform/process/sandbox.ts';
import { type FfmpegFiles, openFfmpegFiles } from './ffmpeg-files.ts';
import { type ExceededLimit, type FfmpegLimits, openWatch } from './ffmpeg-limits.ts';

export type FfmpegRun = {
  readonly path: string;
  /** Inputs are `-i file:<path>`; no other file can be read. */
  readonly args: readonly string[];
  readonly sandbox?: Sandbox;
  /** Working folder of ffmpeg, which contains all output. */
  readonly folder?: string | undefined;
  /** Kills ffmpeg immediately; the promise rejects with the signal's reason. */
  readonly signal: AbortSignal;
  readonly limits: FfmpegLimits;
  /** Default: `urgent`. */
  readonly priority?: FfmpegPriority | undefined;
  /** Called with each line of standard output. Must not throw. */
  readonly onLine?: (line: string) => void;
  /** Called with each line of the log. Must not throw. */
  readonly onLogLine?: (line: string) => void;
  /** Maximum size of the log; only the end of stderr is stored. */
  readonly logBytes?: number;
};

export type FfmpegResult = {
  readonly outcome: 'exited' | 'not_started' | ExceededLimit;
  readonly code: number;
  readonly log: string;
};

/** `urgent`: somebody waits for it, for example until a video is playable. */
export type FfmpegPriority = 'urgent' | 'background';
/** Linux may weigh sessions before it weighs processes (autogroup); ffmpeg has a session of its own. */
const NICENESS: Readonly<Record<FfmpegPriority, { readonly process: number; readonly session: number }>> = {
  urgent: { process: 3, session: 0 },
  background: { process: 10, session: 5 },
};

/** ffmpeg ignores SIGPIPE and finishes its files after SIGTERM. The shell kills it when the pipe closes. */
const GUARD = `
read -r start || exit 1
{ echo "$1" >/proc/self/autogroup; } 2>/dev/null
shift
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
const LOG_BYTES = 64 * 1024;

type Guarded = ChildProcessByStdio<Writable, Readable, Readable>;

/** Resolves when ffmpeg has exited with any result; rejects with the signal's reason. */
export async function runFfmpeg(run: FfmpegRun): Promise<FfmpegResult> {
  run.signal.throwIfAborted();
  const sandbox = run.sandbox ?? createLimitsOnlySandbox();
  const files = await openFfmpegFiles({ sandbox, args: run.args, folder: run.folder });
  try {
    // The signal may have aborted while the files were opened: no event follows.
    run.signal.throwIfAborted();
    const end = await runInSandbox(sandbox, run, files);
    await files.check();
    return end;
  } finally {
    await files.close();
  }
}

async function runInSandbox(
  sandbox: Sandbox,
  run: FfmpegRun,
  { args, cwd, inputs }: FfmpegFiles,
): Promise<FfmpegResult> {
  const command = sandbox.command({ file: run.path, args }, processLimits(run.limits));
  const niceness = NICENESS[run.priority ?? 'urgent'];
  const session = String(niceness.session);
  const child = spawn('/bin/sh', ['-c', GUARD, 'sh', session, command.file, ...command.args], {
    env: {},
    cwd,
    detached: true,
    stdio: ['pipe', 'pipe', 'pipe', ...inputs],
  }) as Guarded;
  const log = collectTail(child.stderr, run.logBytes ?? LOG_BYTES);
  if (run.onLogLine) createInterface(child.stderr).on('line', run.onLogLine);
  const watch = openWatch(run.limits, () => release(child));
  const onAbort = () => release(child);
  run.signal.addEventListener('abort', onAbort);
  createInterface(child.stdout).on('line', (line) => {
    watch.read(line);
    run.onLine?.(line);
  });
  try {
    const code = await waitForExit(child, niceness.process);
    run.signal.throwIfAborted();
    return { outcome: watch.exceeded() ?? classifyExit(code, log()), code, log: log() };
  } finally {
    watch.close();
    run.signal.removeEventListener('abort', onAbort);
  }
}

/** Applies to runs without an output limit, which write only images and lists. */
const FILE_BYTES = 2 * 1024 ** 3;
const OPEN_FILES = 256;

/** The wall-clock limit is reached first, except on a busy machine. */
const processLimits = ({ wallMs, memoryBytes, output }: FfmpegLimits): ProcessLimits => ({
  cpuSeconds: (wallMs / 1000) * availableParallelism(),
  fileBytes: output?.bytes ?? FILE_BYTES,
  openFiles: OPEN_FILES,
  addressBytes: memoryBytes,
});

/**
 * Without memory, allocations, threads (EAGAIN) and library loads fail, and ffmpeg may still exit with 0.
 * Indented lines are metadata of the file.
 */
const NO_MEMORY = new RegExp(
  `^\\S.*(?:${[
    'Cannot allocate memory',
    'Could not allocate memory',
    'Out of memory',
    'malloc of size \\d+ failed',
    'std::bad_alloc',
    'pthread_create\\(\\) failed',
    'error code: -11 \\(Resource temporarily unavailable\\)',
    'failed to map segment from shared object',
  ].join('|')})`,
  'm',
);

/** `code` is a shell exit code. A SIGKILL that the service did not send is from the kernel's OOM killer. */
export function classifyExit(code: number, log: string): FfmpegResult['outcome'] {
  if (code === KILLED || NO_MEMORY.test(log)) return 'out_of_memory';
  if (code === NOT_EXECUTABLE || code === NOT_FOUND) return 'not_started';
  if (code === 128 + constants.signals.SIGXCPU) return 'timed_out';
  return code === 128 + constants.signals.SIGXFSZ ? 'output_too_large' : 'exited';
}

/** Resolves with the exit code after the process has exited and its output is read. */
function waitForExit(child: Guarded, niceness: number): Promise<number> {
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('exit', () => killGroup(child));
    child.on('close', (code) => resolve(code ?? KILLED));
    child.on('spawn', () => start(child, niceness));
  });
}

/** Sets the priority before ffmpeg starts, so that all its threads inherit it. */
function start(child: Guarded, niceness: number): void {
  child.stdin.on('error', () => {}); // The shell has exited, which its exit event reports.
  try {
    if (child.pid !== undefined) setPriority(child.pid, niceness);
  } catch {
    // Some systems do not permit it; ffmpeg then runs with normal priority.
  }
  child.stdin.write('start\n');
}

const release = (child: Guarded): void => void child.stdin.destroy();

/** Necessary only when the shell itself was killed. */
function killGroup(child: Guarded): void {
  release(child);
  try {
    if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
  } catch {
    // The process group does not exist any more.
  }
}

/** Metadata may contain them, and `^` in regular expressions matches after them. */
const LINE_SEPARATORS = /[\u2028\u2029]/g;

function collectTail(stream: Readable, bytes: number): () => string {
  let tail = '';
  stream.setEncoding('utf8').on('data', (text: string) => {
    tail = (tail + text.replace(LINE_SEPARATORS, ' ')).slice(-bytes);
  });
  // The tail may start within a character, and jsonb columns refuse half of one.
  return () => tail.toWellFormed();
}
