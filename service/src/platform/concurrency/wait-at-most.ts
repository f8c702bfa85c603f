// A limit for waiting on what is only tidied up: it runs on by itself, and whoever waits has something to say to a caller.

/** Resolves when the work has ended, well or badly, or when the time is over. */
export function waitAtMost(ms: number, work: Promise<unknown>): Promise<void> {
  return new Promise((resolve) => {
    const impatience = setTimeout(resolve, ms);
    const end = () => {
      clearTimeout(impatience);
      resolve();
    };
    work.then(end, end);
  });
}
