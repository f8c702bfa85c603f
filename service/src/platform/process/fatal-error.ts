// Ends the process after an error that nothing caught: its state is unknown, so it must not serve on.
import type { Logger } from '../logger.ts';

/** With what the supervisor allows on top, shorter than any health check's patience. */
const EXIT_WITHIN_MS = 4000;

/** Stops what can be stopped; resolves when that is done. */
type Shutdown = () => Promise<void>;

/**
 * Logs the first uncaught error, runs the shutdown once and exits with code 1, in time whatever the shutdown does.
 * Errors that follow belong to the same failure and are not logged.
 */
export function exitOnFatalError(log: Logger, shutdown: Shutdown): void {
  let isExiting = false;
  const die = (error: unknown, kind: string): void => {
    if (isExiting) return;
    isExiting = true;
    const exit = () => process.exit(1);
    setTimeout(exit, EXIT_WITHIN_MS);
    log.fatal(
      { err: error instanceof Error ? error : new Error(String(error)) },
      `${kind}: the service exits`,
    );
    shutdown().then(exit, exit);
  };
  process.on('uncaughtException', (error) => die(error, 'uncaught exception'));
  process.on('unhandledRejection', (reason) => die(reason, 'unhandled rejection'));
}
