// Enforces the limits of a running ffmpeg: time, progress, memory and output size.
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setInterval } from 'node:timers/promises';
import { readResidentBytes } from '../../../platform/process/process-tree.ts';

export type FfmpegLimits = {
  readonly wallMs: number;
  /** The kernel limits the address space; the resident memory is checked for systems without this limit. */
  readonly memoryBytes: number;
  /** Timeout without a new frame; only for runs that report progress. */
  readonly stallMs?: number;
  /** Maximum size of a folder. */
  readonly output?: { readonly folder: string; readonly bytes: number };
};

export type ExceededLimit = 'timed_out' | 'out_of_memory' | 'output_too_large';

type LimitWatch = {
  /** Must be called with each line of the output. */
  readonly read: (line: string) => void;
  readonly exceeded: () => ExceededLimit | undefined;
  readonly close: () => void;
};

const CHECK_INTERVAL_MS = 500;
const PID = /^engine_pid=(\d+)$/;
const PROGRESS = /^(frame|out_time_us)=(.*)$/;

/** Calls `end` once, when the first limit is exceeded. */
export function openWatch(limits: FfmpegLimits, end: () => void): LimitWatch {
  const closing = new AbortController();
  const activity = trackActivity();
  let exceeded: ExceededLimit | undefined;
  const watching = async (): Promise<void> => {
    for await (const _ of setInterval(CHECK_INTERVAL_MS, undefined, { signal: closing.signal, ref: false })) {
      exceeded = exceededTime(limits, activity) ?? (await exceededSize(limits, activity.pid()));
      if (!exceeded) continue;
      end();
      return;
    }
  };
  watching().catch((error: unknown) => {
    if (!closing.signal.aborted) throw error; // close() aborts the interval.
  });
  return { read: activity.read, exceeded: () => exceeded, close: () => closing.abort() };
}

type Activity = {
  readonly started: number;
  readonly pid: () => string | undefined;
  readonly last: () => number;
  readonly read: (line: string) => void;
};

function trackActivity(): Activity {
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

function exceededTime({ wallMs, stallMs }: FfmpegLimits, activity: Activity): ExceededLimit | undefined {
  const now = performance.now();
  const isStalled = stallMs !== undefined && now - activity.last() > stallMs;
  return isStalled || now - activity.started > wallMs ? 'timed_out' : undefined;
}

async function exceededSize(
  { memoryBytes, output }: FfmpegLimits,
  pid: string | undefined,
): Promise<ExceededLimit | undefined> {
  if (pid && (await readResidentBytes(Number(pid))) > memoryBytes) return 'out_of_memory';
  return output && (await folderBytes(output.folder)) > output.bytes ? 'output_too_large' : undefined;
}

async function folderBytes(folder: string): Promise<number> {
  // Files may be renamed or deleted meanwhile; missing files count as empty.
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
