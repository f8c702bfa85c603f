// Tracks work in progress, so that an orderly stop can wait for its end.

type InFlight = {
  readonly track: <T>(work: Promise<T>) => Promise<T>;
  /** Resolves when everything that is tracked now has succeeded or failed. */
  readonly settled: () => Promise<void>;
};

export function createInFlight(): InFlight {
  const running = new Set<Promise<unknown>>();
  return {
    track: (work) => {
      running.add(work);
      const forget = () => running.delete(work);
      work.then(forget, forget);
      return work;
    },
    settled: async () => {
      await Promise.allSettled(running);
    },
  };
}
