// Structured logs: JSON lines on standard output; secrets travel in types that do not print, URLs are never logged.
import { type DestinationStream, type Logger, pino } from 'pino';

export type { Logger } from 'pino';

/** Lines are written together, at the latest after this time, and at the exit of the process. */
const FLUSH_MS = 200;
const FLUSH_BYTES = 4096;

export const createLogger = (level: string, output: DestinationStream = standardOutput()): Logger =>
  pino({ level, base: null, serializers: { err: factsOf } }, output);

function standardOutput(): DestinationStream {
  const output = pino.destination({ dest: 1, sync: false, minLength: FLUSH_BYTES });
  setInterval(() => output.flush(), FLUSH_MS).unref();
  return output;
}

/** No other members: libraries hang whole connections on their errors, with statements and what was in them. */
function factsOf(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const { name, message, stack, cause } = error;
  return {
    type: name,
    message,
    stack,
    ...('code' in error && { code: error.code }),
    ...(cause !== undefined && { cause: factsOf(cause) }),
  };
}
