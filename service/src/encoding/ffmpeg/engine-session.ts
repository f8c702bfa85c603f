// One order's runs of the engine: what they share, and which of their ends are failures.
import { availableParallelism } from 'node:os';
import { DEFAULT_ENCODE_LIMITS, type EncodeLimits } from '../plan/encode-cost.ts';
import type { Sandbox } from '../../platform/process/sandbox.ts';
import { FAILURES, type FailureCode } from '../encode-failure.ts';
import { EncodeFailed, type EncodeOrder } from '../encoder.ts';
import type { EngineInput } from '../plan/engine-input.ts';
import { type EngineEnd, runFfmpeg } from './engine-process.ts';
import type { EngineLimits } from './engine-limits.ts';

/** The engine, and what it may take. */
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

/** `concurrency`: how many encodes share this machine. */
export type EngineOptions = {
  readonly limits?: EncodeLimits | undefined;
  readonly concurrency?: number | undefined;
};

/** What a run of the engine needs of its order. */
type Running = EngineAccess & { readonly folder: string; readonly order: Pick<EncodeOrder, 'signal'> };

export type EngineStep = {
  readonly args: readonly string[];
  readonly limits?: Partial<EngineLimits>;
  readonly onLine?: (line: string) => void;
  readonly logBytes?: number;
};

const LIMITS: EngineLimits = { wallMs: 600_000, memoryBytes: 3 * 1024 ** 3 };
/** More threads than this cost memory and bring nothing at these sizes. */
const MOST_THREADS = 8;

export function openSession(
  engine: EngineAccess,
  order: EncodeOrder,
  { limits = DEFAULT_ENCODE_LIMITS, concurrency = 1 }: EngineOptions = {},
): Session {
  const threads = Math.min(Math.ceil(availableParallelism() / concurrency), MOST_THREADS);
  return {
    ...engine,
    folder: order.workFolder,
    order,
    input: { path: order.source, container: order.container, threads },
    limits,
  };
}

/** Resolves with how the engine exited, whatever its code; throws EncodeFailed where it could not run, or had to be stopped. */
export async function runEngine(
  { ffmpegPath, sandbox, memoryBytes = LIMITS.memoryBytes, folder, order }: Running,
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

/** The same, for runs that must succeed. A full disk is ours to mend, not the film's fault. */
export async function runEngineOrFail(running: Running, step: EngineStep): Promise<EngineEnd> {
  const end = await runEngine(running, step);
  if (end.code === 0) return end;
  if (end.log.includes('No space left on device')) throw new Error('no space left on the disk to encode');
  throw createEncodeFailure('encoding_failed', end.log);
}

export const createEncodeFailure = (code: FailureCode, log = ''): EncodeFailed =>
  new EncodeFailed(code, FAILURES[code], log);
