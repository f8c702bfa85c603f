// Limits how many connections are open at once: each costs memory and a file descriptor.
import type { Server } from 'node:http';

type Limit = {
  readonly maxConnections: number;
  readonly logger: { warn(facts: object, message: string): void };
};

/** A flood of refused connections is not to become a flood of log lines. */
const WARN_EVERY_MS = 10_000;

/** The server closes further connections as they arrive; existing ones are served as before. */
export function limitConnections(server: Server, { maxConnections, logger }: Limit): void {
  server.maxConnections = maxConnections;
  let warnAfter = 0;
  server.on('drop', () => {
    if (performance.now() < warnAfter) return;
    warnAfter = performance.now() + WARN_EVERY_MS;
    logger.warn({ limit: maxConnections }, 'MAX_CONNECTIONS is reached: new connections are closed');
  });
}
