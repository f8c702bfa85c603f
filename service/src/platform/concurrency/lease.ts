// Renews a lease in the database while the work that it protects runs.

/** Leases last one minute: two renewals may fail before another process takes over. */
export const RENEW_EVERY_MS = 20_000;

type Lease = { readonly everyMs: number; readonly renew: () => Promise<unknown> };

/** A renewal that fails is not the end of the work: the next one may succeed, and a lost lease shows when the result is stored. */
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
