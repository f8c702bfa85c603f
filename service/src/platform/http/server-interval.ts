// Runs a check at an interval while a server is open.
import type { Server } from 'node:http';

/** A larger delay means that the event loop was blocked. */
const LATE_MS = 1000;

/**
 * Passes to `check` for how long the event loop was blocked, in ms. Timers run before sockets are read, so a timeout must
 * allow for this time.
 */
export function runAtInterval(server: Server, everyMs: number, check: (blockedMs: number) => void): void {
  let last = performance.now();
  const timer = setInterval(() => {
    const late = performance.now() - last - everyMs;
    last = performance.now();
    check(late > LATE_MS ? late : 0);
  }, everyMs).unref();
  server.once('close', () => clearInterval(timer));
}
