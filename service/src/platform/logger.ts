// Structured logs: JSON lines on standard output; secrets travel in types that do not print, URLs are never logged.
import { type Logger, pino } from 'pino';

export type { Logger } from 'pino';

export const createLogger = (level: string): Logger =>
  pino({ level, base: null, timestamp: pino.stdTimeFunctions.isoTime, redact: ['req', 'res', '*.headers', '*.authorization'] }, pino.destination({ dest: 1, sync: false }));
