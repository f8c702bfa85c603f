// Runs ffmpeg for one encode request, and converts failed runs to EncodeError.
import { readdir, rm } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { FAILURE_CODES } from '@mediary/contract/failures';
import { DEFAULT_ENCODE_LIMITS, type EncodeLimits } from '../plan/ladder/encode-cost.ts';
import { diskFull } from '../../platform/disk/free-space.ts';
import type { SpanStart } from '../../platform/observability/trace-span.ts';
import { spanned } from '../../platform/observability/tracing.ts';
import type { Sandbox } from '../../platform/process/sandbox.ts';
import { DEFAULT_LADDER, type Ladder } from '../plan/ladder/ladder.ts';
import type { FailureCode } from '../encode-failure.ts';
import { EncodeError, type EncodeRequest } from '../encoder.ts';
import type { LoudnessTarget } from '../plan/arguments/normalization.ts';
import type { HardwareEncoder } from '../plan/arguments/h264-encoders.ts';
import type { FfmpegInput } from '../plan/source/ffmpeg-input.ts';
import { type FfmpegPriority, type FfmpegResult, runFfmpeg } from './process/ffmpeg-process.ts';
import type { FfmpegLimits } from './process/ffmpeg-limits.ts';

/** The ffmpeg binary and its resource limits. */
export type FfmpegSetup = {
  readonly ffmpegPath: string;
  readonly sandbox?: Sandbox;
  readonly memoryBytes?: number;
  /** Default: `urgent`. */
  readonly priority?: FfmpegPriority;
  /** Encodes with it, and with x264 where it fails. */
  readonly hardware?: Hardware | undefined;
};

export type Hardware = { readonly encoder: HardwareEncoder; readonly onFailure: (log: string) => void };

/** The members of a request that the examination of its source needs. */
type SourceRequest = Pick<EncodeRequest, 'source' | 'container' | 'workFolder' | 'signal'>;

export type SourceSession<Request extends SourceRequest = SourceRequest> = FfmpegSetup & {
  readonly folder: string;
  readonly request: Request;
  readonly input: FfmpegInput;
  readonly limits: EncodeLimits;
  readonly ladder: Ladder;
  /** Undefined: the sound stays as loud as it is. */
  readonly loudness?: LoudnessTarget | undefined;
};

export type Session = SourceSession<EncodeRequest>;

/** `concurrency`: number of parallel encodes on this machine. */
export type EncoderOptions = {
  readonly limits?: EncodeLimits | undefined;
  readonly concurrency?: number | undefined;
  readonly ladder?: Ladder | undefined;
  readonly loudness?: LoudnessTarget | undefined;
};

/** The members of a session that a run needs. */
type RunContext = FfmpegSetup & { readonly folder: string; readonly request: Pick<EncodeRequest, 'signal'> };

type FfmpegStep = {
  readonly args: readonly string[];
  readonly limits?: Partial<FfmpegLimits>;
  readonly onLine?: (line: string) => void;
  readonly onLogLine?: (line: string) => void;
  readonly logBytes?: number;
};

export type EncodeStep = FfmpegStep & {
  /** The same step on a GPU; undefined: it runs only in software. */
  readonly hardwareArgs?: (encoder: HardwareEncoder) => readonly string[];
};

const LIMITS: FfmpegLimits = { wallMs: 600_000, memoryBytes: 3 * 1024 ** 3 };
/** More threads cost memory without a benefit at these sizes. */
const MAX_THREADS = 8;

export function openSession<Request extends SourceRequest>(
  setup: FfmpegSetup,
  request: Request,
  { limits = DEFAULT_ENCODE_LIMITS, concurrency = 1, ladder = DEFAULT_LADDER, loudness }: EncoderOptions = {},
): SourceSession<Request> {
  return {
    ...setup,
    folder: request.workFolder,
    request,
    input: { path: request.source, container: request.container, threads: threadsOf(concurrency) },
    limits,
    ladder,
    loudness,
  };
}

/** The threads of one ffmpeg, if this machine runs so many at the same time. */
export const threadsOf = (concurrency: number): number =>
  Math.min(Math.ceil(availableParallelism() / concurrency), MAX_THREADS);

const FFMPEG_RUN: SpanStart = { name: 'ffmpeg', kind: 'internal' };

/** Resolves with the exit code of ffmpeg. Throws EncodeError when it could not start or was stopped. */
export async function runStep(
  { ffmpegPath, sandbox, priority, memoryBytes = LIMITS.memoryBytes, folder, request }: RunContext,
  { limits, ...step }: FfmpegStep,
): Promise<FfmpegResult> {
  const run = {
    path: ffmpegPath,
    priority,
    signal: request.signal,
    folder,
    ...(sandbox && { sandbox }),
    limits: { ...LIMITS, memoryBytes, ...limits },
    ...step,
  };
  const end = await spanned(FFMPEG_RUN, () => runFfmpeg(run));
  if (end.outcome === 'exited') return end;
  throw createEncodeFailure(end.outcome === 'not_started' ? 'encoder_missing' : end.outcome, end.log);
}

/** Seconds of the output so far, from a line of the progress; undefined for other lines. */
export function parseOutTime(line: string): number | undefined {
  const time = /^out_time_us=(\d+)$/.exec(line)?.[1];
  return time === undefined ? undefined : Number(time) / 1_000_000;
}

/** An indented line is metadata of the file. */
const NO_SPACE = /^\S.*(?:No space left on device|Disk quota exceeded)/m;

/** Throws EncodeError for a non-zero exit code, and UNAVAILABLE for a full disk. */
export async function runStepOrFail(context: RunContext, step: EncodeStep): Promise<FfmpegResult> {
  const end = (await runOnHardware(context, step)) ?? (await runStep(context, step));
  if (end.code === 0) return end;
  if (NO_SPACE.test(end.log)) throw diskFull('scratch folder');
  throw createEncodeFailure('encode_failed', end.log);
}

/** Undefined when the step must run in software: it has no arguments for a GPU, or the hardware failed. */
async function runOnHardware(
  context: RunContext,
  { hardwareArgs, ...step }: EncodeStep,
): Promise<FfmpegResult | undefined> {
  const { hardware } = context;
  if (!hardware || !hardwareArgs) return undefined;
  const args = hardwareArgs(hardware.encoder);
  const present = new Set(await readdir(context.folder));
  const end = await runStep(context, { ...step, args }).catch((error: unknown) => {
    if (!isHardwareFailure(error, context)) throw error;
    return error;
  });
  if (!(end instanceof EncodeError) && (end.code === 0 || NO_SPACE.test(end.log))) return end;
  hardware.onFailure(end.log);
  // The run in software may have fewer files, and their size counts towards its limit.
  for (const name of await readdir(context.folder))
    if (!present.has(name)) await rm(join(context.folder, name), { recursive: true });
  return undefined;
}

/** A GPU or its driver may hang, or lack memory that software does not need. */
const isHardwareFailure = (error: unknown, { request }: RunContext): error is EncodeError =>
  error instanceof EncodeError && error.code !== 'encoder_missing' && !request.signal.aborted;

export const createEncodeFailure = (code: FailureCode, log = ''): EncodeError =>
  new EncodeError(code, FAILURE_CODES[code], log);
