// Holds a running engine to its limits: time, signs of life, memory, and bytes written.
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setInterval } from 'node:timers/promises';
import { readResidentBytes } from '../../platform/process/process-tree.ts';

export type EngineLimits = {
  readonly wallMs: number;
  /** The kernel limits the address space to it; where it does not, the resident memory is watched. */
  readonly memoryBytes: number;
  /** Without a new picture for this long the engine is taken for stuck; only for runs that report progress. */
  readonly stallMs?: number;
  /** A folder that may not grow beyond this. */
  readonly output?: { readonly folder: string; readonly bytes: number };
};

export type ExceededLimit = 'timed_out' | 'out_of_memory' | 'output_too_large';

export type EngineWatch = {
  /** Takes each line that the engine writes. */
  readonly read: (line: string) => void;
  readonly broken: () => ExceededLimit | undefined;
  readonly close: () => void;
};

const LOOK_MS = 500;
const PID = /^engine_pid=(\d+)$/;
const PROGRESS = /^(frame|out_time_us)=(.*)$/;

/** Calls `end` once, when the first limit is broken. */
export function openWatch(limits: EngineLimits, end: () => void): EngineWatch {
  const closing = new AbortController();
  const life = signsOfLife();
  let broken: ExceededLimit | undefined;
  const watching = async (): Promise<void> => {
    for await (const _ of setInterval(LOOK_MS, undefined, { signal: closing.signal, ref: false })) {
      broken = brokenTime(limits, life) ?? (await brokenSize(limits, life.pid()));
      if (!broken) continue;
      end();
      return;
    }
  };
  watching().catch((error: unknown) => {
    if (!closing.signal.aborted) throw error; // Closing is what ends the interval.
  });
  return { read: life.read, broken: () => broken, close: () => closing.abort() };
}

type Life = {
  readonly started: number;
  readonly pid: () => string | undefined;
  readonly last: () => number;
  readonly read: (line: string) => void;
};

function signsOfLife(): Life {
  const started = performance.now();
  const values = new Map<string, string>();
  let pid: string | undefined;
  let last = started;
  const read = (line: string): void => {
    pid ??= PID.exec(line)?.[1];
    const [, key = '', value = ''] = PROGRESS.exec(line) ?? [];
    if (values.get(key) === value || key === '') return;
    values.set(key, value);
    last = performance.now();
  };
  return { started, pid: () => pid, last: () => last, read };
}

function brokenTime({ wallMs, stallMs }: EngineLimits, life: Life): ExceededLimit | undefined {
  const now = performance.now();
  const stuck = stallMs !== undefined && now - life.last() > stallMs;
  return stuck || now - life.started > wallMs ? 'timed_out' : undefined;
}

async function brokenSize(
  { memoryBytes, output }: EngineLimits,
  pid: string | undefined,
): Promise<ExceededLimit | undefined> {
  if (pid && (await readResidentBytes(Number(pid))) > memoryBytes) return 'out_of_memory';
  return output && (await folderBytes(output.folder)) > output.bytes ? 'output_too_large' : undefined;
}

async function folderBytes(folder: string): Promise<number> {
  // Files are renamed while we look, and the folder may go with its owner; what is gone is not counted.
  const names = await readdir(folder).catch(() => []);
  const sizes = await Promise.all(
    names.map((name) =>
      stat(join(folder, name)).then(
        ({ size }) => size,
        () => 0,
      ),
    ),
  );
  return sizes.reduce((total, size) => total + size, 0);
}
