// Waits for cleanup work with a timeout; the work continues in the background.

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
