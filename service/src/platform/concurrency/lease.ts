// Renews a lease in the database while the work that it protects runs.

/** Long enough that two renewals may fail before another process takes over. */
export const LEASE_SECONDS = 60;
export const RENEW_EVERY_MS = 20_000;

/**
 * How long a request whose process was killed refuses others: those for the same upload, and those with the
 * same Idempotency-Key. It renews three times in it; the writer of a resumable upload more often, because the
 * statement also tells that another request waits.
 */
export const REQUEST_LEASE_SECONDS = 10;
export const RENEW_REQUEST_EVERY_MS = 3000;

type Lease = { readonly everyMs: number; readonly renew: () => Promise<unknown> };

/**
 * Ignores failed renewals: the next one may succeed, and a lost lease is detected when the result is stored.
 */
export async function whileRenewing<T>({ everyMs, renew }: Lease, work: () => Promise<T>): Promise<T> {
  const timer = setInterval(() => {
    renew().catch(() => undefined);
  }, everyMs);
  try {
    return await work();
  } finally {
    clearInterval(timer);
  }
}
