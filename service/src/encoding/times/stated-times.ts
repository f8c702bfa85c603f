// The times that callers see, from estimates or the percent of a provider: rounded, and never in the past.
import type { ExpectedTimes } from '@mediary/contract/schemas/assets/expected-times';
import type { Estimate } from './learned-speed.ts';

/** Milliseconds since 1970. `playable`: undefined if the video plays already. */
type StatedEncode = {
  readonly readAtMs: number;
  readonly nowMs: number;
  readonly playable: Estimate | undefined;
  readonly ready: Estimate;
  readonly position: number | null;
};

const MINUTE = 60_000;
/** Up to this distance, times are multiples of this step. */
const STEPS = [
  [2 * MINUTE, 5000],
  [20 * MINUTE, 15_000],
  [120 * MINUTE, MINUTE],
] as const;
const LARGEST_STEP = 5 * MINUTE;

/** A time that is not later than now becomes the next one on the grid. */
export function statedTimes({ readAtMs, nowMs, playable, ready, position }: StatedEncode): ExpectedTimes {
  const step = stepOf(ready.latestMs);
  const at = (ms: number): number => roundUp(Math.max(readAtMs + ms, nowMs + 1), step);
  const readyMs = at(ready.expectedMs);
  return {
    expected_playable_at: playable ? toIso(Math.min(at(playable.expectedMs), readyMs)) : null,
    expected_ready_at: toIso(readyMs),
    expected_ready_range: {
      earliest_at: toIso(roundUp(Math.max(readAtMs + ready.earliestMs, nowMs), step) - step),
      latest_at: toIso(at(ready.latestMs)),
    },
    queue_position: position,
  };
}

const stepOf = (distanceMs: number): number =>
  STEPS.find(([upTo]) => distanceMs <= upTo)?.[1] ?? LARGEST_STEP;

const roundUp = (ms: number, step: number): number => Math.ceil(ms / step) * step;

const toIso = (ms: number): string => new Date(ms).toISOString();

type HostedProgress = {
  readonly progress: number;
  /** From the start of processing until the latest report. */
  readonly elapsedMs: number;
};

/** Less says nothing about the speed. */
const MIN_PERCENT = 5;
/** Providers count neither their queue nor their last steps. */
const SPREAD = 2;

/** From the latest report on. */
export function estimateHosted({ progress, elapsedMs }: HostedProgress): Estimate | undefined {
  if (progress < MIN_PERCENT || progress >= 100 || elapsedMs <= 0) return undefined;
  const expectedMs = (elapsedMs * (100 - progress)) / progress;
  return { earliestMs: expectedMs / SPREAD, expectedMs, latestMs: expectedMs * SPREAD };
}
