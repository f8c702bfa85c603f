// When to repeat a request, and how long to wait before that.
import { ConnectionError, MediaryError, TimeoutError } from './errors.ts';

const FIRST_DELAY_MS = 250;
const LONGEST_DELAY_MS = 10_000;
const LONGEST_RETRY_AFTER_MS = 60_000;

/** The same request may succeed. Proxies send 502, 504 and statuses of their own, such as 520 to 526. */
const isTransientStatus = (status: number): boolean => status === 429 || (status >= 500 && status !== 501);

/** Conflicts that end by themselves: another request holds the key or the upload. */
const TEMPORARY_CONFLICTS = new Set<unknown>(['request_in_progress', 'upload_in_progress', 'asset_changed']);

export const isTransient = (error: unknown): boolean =>
  isLost(error) ||
  (error instanceof MediaryError &&
    ((error.status !== undefined && isTransientStatus(error.status)) ||
      TEMPORARY_CONFLICTS.has(error.reason)));

const isLost = (error: unknown): boolean => error instanceof ConnectionError || error instanceof TimeoutError;

/**
 * The request may have taken effect: there was no response, or a 5xx, which a proxy sends too when it loses
 * the response of the service.
 */
export const hasUnknownOutcome = (error: unknown): boolean =>
  isLost(error) || (error instanceof MediaryError && error.status !== undefined && error.status >= 500);

/** Exponential with full jitter, at least what `Retry-After` of the error demands. */
export function retryDelayMs(attempt: number, error?: unknown): number {
  const longest = Math.min(LONGEST_DELAY_MS, FIRST_DELAY_MS * 2 ** attempt);
  const jittered = longest / 2 + (Math.random() * longest) / 2;
  const demanded = error instanceof MediaryError ? (error.retryAfterS ?? 0) * 1000 : 0;
  return Math.max(jittered, Math.min(demanded, LONGEST_RETRY_AFTER_MS));
}

/** Rejects with the reason of the signal when it aborts. */
export const sleep = (ms: number, signal?: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    const stop = (): void => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop);
      resolve();
    }, ms);
    if (signal?.aborted) stop();
    else signal?.addEventListener('abort', stop, { once: true });
  });

/** Settles like `pending`, or rejects with the reason of the signal when it aborts first. */
export async function untilAborted<T>(pending: Promise<T>, signal: AbortSignal): Promise<T> {
  let stop = (): void => undefined;
  const aborted = new Promise<never>((_resolve, reject) => {
    stop = () => reject(signal.reason);
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });
  });
  try {
    return await Promise.race([pending, aborted]);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

type Attempts = {
  readonly maxRetries: number;
  readonly signal?: AbortSignal | undefined;
  readonly isRetryable?: (error: unknown) => boolean;
};

/** Repeats `run` until it succeeds, fails for good, or has failed `maxRetries` times more. */
export async function withRetries<T>(
  { maxRetries, signal, isRetryable = isTransient }: Attempts,
  run: (attempt: number) => Promise<T>,
): Promise<T> {
  for (let attempt = 0; ; attempt += 1) {
    try {
      return await run(attempt);
    } catch (error) {
      signal?.throwIfAborted();
      if (attempt >= maxRetries || !isRetryable(error)) throw error;
      await sleep(retryDelayMs(attempt, error), signal);
    }
  }
}
