// Exits the process after an uncaught error, because its state is unknown.
import type { Logger } from '../observability/logger.ts';

/** Shorter than the timeout of common health checks, including the supervisor's restart delay. */
const EXIT_WITHIN_MS = 4000;

/** Stops the components that still respond; resolves when done. */
type Shutdown = () => Promise<void>;

/**
 * Logs the first uncaught error, runs the shutdown once and exits with code 1 within EXIT_WITHIN_MS.
 * Later errors are consequences of the first and are not logged.
 */
export function exitOnFatalError(log: Logger, shutdown: Shutdown): void {
  let isExiting = false;
  const handleFatal = (error: unknown, kind: string): void => {
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
  process.on('uncaughtException', (error) => handleFatal(error, 'uncaught exception'));
  process.on('unhandledRejection', (reason) => handleFatal(reason, 'unhandled rejection'));
}
