// Tracks work in progress, so that a graceful shutdown can wait for its end, up to a timeout.

export type InFlight = {
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

/** Resolves when the work has succeeded or failed, or after the timeout. */
export function waitAtMost(ms: number, work: Promise<unknown>): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    const end = () => {
      clearTimeout(timer);
      resolve();
    };
    work.then(end, end);
  });
}
