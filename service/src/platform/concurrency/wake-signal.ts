// A wait that another function ends early. A wake while nobody waits is remembered.

export type WakeSignal = {
  readonly wake: () => void;
  /** Resolves with true as soon as `wake` was called since the previous wait, with false after `ms`. */
  readonly wait: (ms: number) => Promise<boolean>;
};

export function createWakeSignal(): WakeSignal {
  let isAwake = false;
  let onWake = () => {};
  const take = (): boolean => {
    const result = isAwake;
    isAwake = false;
    return result;
  };
  return {
    wake: () => {
      isAwake = true;
      onWake();
    },
    wait: async (ms) => {
      if (!isAwake)
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, ms).unref();
          onWake = () => {
            clearTimeout(timer);
            resolve();
          };
        });
      onWake = () => {};
      return take();
    },
  };
}
