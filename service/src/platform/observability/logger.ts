// Logs on standard output as JSON lines, or as lines for people, without credentials and long texts.
import { type DestinationStream, type Logger as PinoLogger, pino } from 'pino';
import { renderLogLine } from './pretty-log.ts';
import { sanitize, serializeError } from './logged-errors.ts';
import { limitRepeatedErrors } from './repeated-errors.ts';
import type { ProcessIdentity } from './trace-span.ts';
import { describeScope } from './tracing.ts';

export type Logger = PinoLogger;

/** Lines are buffered up to this time and size, and flushed at process exit. */
const FLUSH_MS = 200;
const FLUSH_BYTES = 4096;

/** `identity`: members of each line. */
export const createLogger = (
  level: string,
  output: DestinationStream = openJsonOutput(),
  identity?: ProcessIdentity,
): Logger =>
  pino(
    {
      level,
      base: identity ?? null,
      timestamp: pino.stdTimeFunctions.isoTime,
      serializers: { err: serializeError },
      formatters: { log: truncateMembers, level: (label) => ({ level: label }) },
      hooks: limitRepeatedErrors(),
      mixin: describeScope,
    },
    output,
  );

/** `auto`: lines for people on a terminal, else JSON lines. */
type LogFormat = 'auto' | 'json' | 'pretty';

type LogOptions = { readonly level: string; readonly format: LogFormat };

/** Lines for people do not name the process. */
export const openLog = ({ level, format }: LogOptions, identity: ProcessIdentity): Logger =>
  format === 'pretty' || (format === 'auto' && process.stdout.isTTY)
    ? createLogger(level, openPrettyOutput())
    : createLogger(level, openJsonOutput(), identity);

function openJsonOutput(): DestinationStream {
  const output = pino.destination({ dest: 1, sync: false, minLength: FLUSH_BYTES });
  setInterval(() => output.flush(), FLUSH_MS).unref();
  return output;
}

/** Not buffered, so that lines and other output of the process stay in order. */
function openPrettyOutput(): DestinationStream {
  const hasColours = process.stdout.isTTY && process.stdout.hasColors();
  const output = pino.destination({ dest: 1, sync: true });
  return { write: (line) => void output.write(renderLogLine(line, { hasColours })) };
}

/** In characters. A text may quote untrusted input, which has no other limit. */
const MAX_TEXT = 2000;

/** Copies the line only when it has a long text, which is rare. */
function truncateMembers(line: Record<string, unknown>): Record<string, unknown> {
  for (const value of Object.values(line))
    if (typeof value === 'string' && value.length > MAX_TEXT)
      return Object.fromEntries(
        Object.entries(line).map(([name, member]) => [
          name,
          typeof member === 'string' ? sanitize(member, MAX_TEXT) : member,
        ]),
      );
  return line;
}
