// Shares an expensive reading among all who ask for it within a time.

type SharedReadingOptions<T> = {
  readonly read: () => Promise<T>;
  readonly minAgeMs: number;
  /** A slow reading is kept longer: reading takes at most this share of the time. */
  readonly maxShare: number;
  /** Milliseconds of a monotonic clock. */
  readonly now?: () => number;
};

type Reading<T> = { readonly value: Promise<T>; until: number };

/** Also keeps a failure, so that an outage costs few attempts. */
export function shareReading<T>({
  read,
  minAgeMs,
  maxShare,
  now = () => performance.now(),
}: SharedReadingOptions<T>): () => Promise<T> {
  let reading: Reading<T> | undefined;
  const start = (): Reading<T> => {
    const startMs = now();
    const started: Reading<T> = { value: read(), until: Number.POSITIVE_INFINITY };
    const keep = () => {
      started.until = now() + Math.max(minAgeMs, (now() - startMs) / maxShare);
    };
    started.value.then(keep, keep);
    return started;
  };
  return () => {
    if (!reading || now() >= reading.until) reading = start();
    return reading.value;
  };
}
