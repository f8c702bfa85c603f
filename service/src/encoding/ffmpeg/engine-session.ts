// Runs ffmpeg for one encode order, and converts failed runs to EncodeFailed.
import { availableParallelism } from 'node:os';
import { DEFAULT_ENCODE_LIMITS, type EncodeLimits } from '../plan/encode-cost.ts';
import type { Sandbox } from '../../platform/process/sandbox.ts';
import { FAILURES, type FailureCode } from '../encode-failure.ts';
import { EncodeFailed, type EncodeOrder } from '../encoder.ts';
import type { EngineInput } from '../plan/engine-input.ts';
import { type EngineEnd, runFfmpeg } from './engine-process.ts';
import type { EngineLimits } from './engine-limits.ts';

/** The ffmpeg binary and its resource limits. */
export type EngineAccess = {
  readonly ffmpegPath: string;
  readonly sandbox?: Sandbox;
  readonly memoryBytes?: number;
};

export type Session = EngineAccess & {
  readonly folder: string;
  readonly order: EncodeOrder;
  readonly input: EngineInput;
  readonly limits: EncodeLimits;
};

/** `concurrency`: number of parallel encodes on this machine. */
export type EngineOptions = {
  readonly limits?: EncodeLimits | undefined;
  readonly concurrency?: number | undefined;
};

/** The members of a session that a run needs. */
type RunContext = EngineAccess & { readonly folder: string; readonly order: Pick<EncodeOrder, 'signal'> };

type EngineStep = {
  readonly args: readonly string[];
  readonly limits?: Partial<EngineLimits>;
  readonly onLine?: (line: string) => void;
  readonly logBytes?: number;
};

const LIMITS: EngineLimits = { wallMs: 600_000, memoryBytes: 3 * 1024 ** 3 };
/** More threads cost memory without a benefit at these sizes. */
const MAX_THREADS = 8;

export function openSession(
  engine: EngineAccess,
  order: EncodeOrder,
  { limits = DEFAULT_ENCODE_LIMITS, concurrency = 1 }: EngineOptions = {},
): Session {
  const threads = Math.min(Math.ceil(availableParallelism() / concurrency), MAX_THREADS);
  return {
    ...engine,
    folder: order.workFolder,
    order,
    input: { path: order.source, container: order.container, threads },
    limits,
  };
}

/** Resolves with the exit code of ffmpeg. Throws EncodeFailed when it could not start or was stopped. */
export async function runEngine(
  { ffmpegPath, sandbox, memoryBytes = LIMITS.memoryBytes, folder, order }: RunContext,
  { limits, ...step }: EngineStep,
): Promise<EngineEnd> {
  const end = await runFfmpeg({
    path: ffmpegPath,
    signal: order.signal,
    folder,
    ...(sandbox && { sandbox }),
    limits: { ...LIMITS, memoryBytes, ...limits },
    ...step,
  });
  if (end.ended === 'exited') return end;
  throw createEncodeFailure(end.ended === 'not_started' ? 'engine_missing' : end.ended, end.log);
}

/** Throws EncodeFailed for a non-zero exit code. A full disk is no EncodeFailed, so the job is retried. */
export async function runEngineOrFail(context: RunContext, step: EngineStep): Promise<EngineEnd> {
  const end = await runEngine(context, step);
  if (end.code === 0) return end;
  if (end.log.includes('No space left on device')) throw new Error('no space left on the disk to encode');
  throw createEncodeFailure('encoding_failed', end.log);
}

export const createEncodeFailure = (code: FailureCode, log = ''): EncodeFailed =>
  new EncodeFailed(code, FAILURES[code], log);
