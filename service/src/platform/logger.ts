// Structured logs: JSON lines on standard output; secrets travel in types that do not print, URLs are never logged.
import { type Logger, pino } from 'pino';

export type { Logger } from 'pino';

/** Lines are written together, at the latest after this time, and at the exit of the process. */
const FLUSH_MS = 200;
const FLUSH_BYTES = 4096;

export function createLogger(level: string): Logger {
  const output = pino.destination({ dest: 1, sync: false, minLength: FLUSH_BYTES });
  setInterval(() => output.flush(), FLUSH_MS).unref();
  return pino({ level, base: null, timestamp: pino.stdTimeFunctions.isoTime }, output);
}
