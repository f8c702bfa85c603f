// Runs a check at an interval for as long as a server is open.
import type { Server } from 'node:http';

/** Anything above this is a blocked event loop, not a late timer. */
const LATE_MS = 1000;

/**
 * `check` is given how long the event loop was blocked before it, in ms. Timers run before the sockets are read, so bytes
 * that arrived meanwhile are not counted yet: a timeout has to allow for that time.
 */
export function checkEvery(server: Server, everyMs: number, check: (blockedMs: number) => void): void {
  let last = performance.now();
  const timer = setInterval(() => {
    const late = performance.now() - last - everyMs;
    last = performance.now();
    check(late > LATE_MS ? late : 0);
  }, everyMs).unref();
  server.once('close', () => clearInterval(timer));
}
