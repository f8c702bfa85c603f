// When a video of a hosted provider is ready, by the percent that the provider reports.
import type { Estimate } from './learned-speed.ts';

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
