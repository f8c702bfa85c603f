// Decides which outbound failures are retried, how often, and after which delay.
import type { OutboundError } from './outbound-error.ts';

export type RetryLimits = {
  /** Failures in a row that are followed by another attempt. */
  readonly maxRetries: number;
  readonly baseDelayMs: number;
  readonly maxDelayMs: number;
  /** So many bytes since the last failure end the row. */
  readonly progressBytes: number;
};

export const DEFAULT_RETRY_LIMITS: RetryLimits = {
  maxRetries: 5,
  baseDelayMs: 500,
  maxDelayMs: 30_000,
  progressBytes: 1024 * 1024,
};

const TRANSIENT_STATUSES = new Set([408, 425, 429, 500, 502, 503, 504]);

export function isTransient({ reason, status, detail }: OutboundError): boolean {
  if (reason === 'http_status') return TRANSIENT_STATUSES.has(status ?? 0);
  if (reason === 'dns_failed') return detail !== 'ENOTFOUND';
  return reason === 'connect_failed' || reason === 'timeout' || reason === 'connection_lost';
}

export type RetryBudget = {
  /** `offset`: bytes received so far. Undefined: no further attempt. */
  nextDelayMs(failure: OutboundError, offset: number): number | undefined;
};

export function createRetryBudget(limits: RetryLimits, random: () => number): RetryBudget {
  let failures = 0;
  let lastOffset = 0;
  return {
    nextDelayMs(failure, offset) {
      failures = offset - lastOffset >= limits.progressBytes ? 1 : failures + 1;
      lastOffset = offset;
      if (!isTransient(failure) || failures > limits.maxRetries) return undefined;
      const exponential = Math.min(limits.maxDelayMs, limits.baseDelayMs * 2 ** (failures - 1));
      // Half of it is random, so that downloads that were cut together do not return together.
      const delayMs = exponential / 2 + (random() * exponential) / 2;
      const requestedMs = (failure.retryAfterSeconds ?? 0) * 1000;
      return Math.min(limits.maxDelayMs, Math.max(delayMs, requestedMs));
    },
  };
}
