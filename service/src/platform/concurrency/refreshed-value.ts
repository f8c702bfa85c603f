// Keeps a value that another system publishes: loads it again in the background, and keeps it during outages.

type RefreshOptions<T> = {
  readonly load: () => Promise<T>;
  readonly onError: (error: unknown) => void;
  /** Milliseconds of a monotonic clock. */
  readonly now: () => number;
  /** An older value is loaded again in the background. */
  readonly maxAgeMs: number;
  /** An older value is not used, even if it cannot be loaded again. */
  readonly maxStaleMs: number;
  /** Least time after a failure, and between two calls of `refresh` that load. */
  readonly cooldownMs: number;
};

type RefreshedValue<T> = {
  /** Waits only where there is no value. Undefined: it could not be loaded. */
  readonly get: () => Promise<T | undefined>;
  /** Loads again unless the cooldown has not passed. `isCurrent`: the latest load succeeded. */
  readonly refresh: () => Promise<{ readonly value: T | undefined; readonly isCurrent: boolean }>;
};

export function createRefreshedValue<T>(options: RefreshOptions<T>): RefreshedValue<T> {
  const { now, maxAgeMs, maxStaleMs, cooldownMs } = options;
  let loaded: { readonly value: T; readonly at: number } | undefined;
  let failedAt = Number.NEGATIVE_INFINITY;
  let refreshedAt = Number.NEGATIVE_INFINITY;
  let flight: Promise<void> | undefined;

  const run = async () => {
    try {
      loaded = { value: await options.load(), at: now() };
      failedAt = Number.NEGATIVE_INFINITY;
    } catch (error) {
      failedAt = now();
      options.onError(error);
    }
    flight = undefined;
  };
  const isCooling = (since: number) => now() - since < cooldownMs;
  const load = () => {
    flight ??= run();
    return flight;
  };
  const retry = async () => {
    if (flight || !isCooling(failedAt)) await load();
  };
  const usable = () => (loaded && now() - loaded.at < maxStaleMs ? loaded : undefined);
  return {
    async get() {
      const present = usable();
      if (!present) await retry();
      else if (now() - present.at >= maxAgeMs) void retry();
      return usable()?.value;
    },
    async refresh() {
      if (flight) await flight;
      else if (!isCooling(refreshedAt) && !isCooling(failedAt)) {
        refreshedAt = now();
        await load();
      }
      return { value: usable()?.value, isCurrent: failedAt === Number.NEGATIVE_INFINITY };
    },
  };
}
