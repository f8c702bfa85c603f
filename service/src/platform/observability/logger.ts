// Logs on standard output as JSON lines, or as lines for people, without credentials and long texts.
import { type DestinationStream, type Logger as PinoLogger, pino } from 'pino';
import { renderLogLine } from './pretty-log.ts';

export type Logger = PinoLogger;

/** Lines are buffered up to this time and size, and flushed at process exit. */
const FLUSH_MS = 200;
const FLUSH_BYTES = 4096;

export const createLogger = (level: string, output: DestinationStream = openJsonOutput()): Logger =>
  pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      serializers: { err: serializeError },
      formatters: { log: truncateMembers, level: (label) => ({ level: label }) },
    },
    output,
  );

/** `auto`: lines for people on a terminal, else JSON lines. */
type LogFormat = 'auto' | 'json' | 'pretty';

export const openLogOutput = (format: LogFormat): DestinationStream =>
  format === 'pretty' || (format === 'auto' && process.stdout.isTTY) ? openPrettyOutput() : openJsonOutput();

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

/** In characters. An error may quote untrusted input, which has no other limit. */
const MAX_TEXT = 2000;
const MAX_MESSAGE = 1000;
const MAX_STACK = 4000;
const MAX_CODE = 100;
const MAX_CAUSES = 5;

/** Errors of libraries may name a URL with its credentials, or a header. */
const CREDENTIALS: readonly (readonly [pattern: RegExp, replacement: string])[] = [
  [/(\b[a-z][a-z0-9+.-]{0,30}:\/\/)[^\s/@]+@/gi, '$1[secret]@'],
  [/(\b[a-z][a-z0-9+.-]{0,30}:\/\/[^\s?#]+)\?[^\s'"]*/gi, '$1?[secret]'],
  [/(ticket|token|key|signature|secret|password)=[^\s&"')]+/gi, '$1=[secret]'],
  [/\/~[\w-]{16,}/g, '/~[secret]'],
  [/\b(Bearer|Basic) [\w.~+/=-]+/gi, '$1 [secret]'],
];

/** Redacts credentials and truncates the text. */
function sanitize(text: string, maxLength: number): string {
  const start = text.slice(0, 2 * maxLength);
  const redacted = CREDENTIALS.reduce(
    (rest, [pattern, replacement]) => rest.replace(pattern, replacement),
    start,
  );
  return redacted.length > maxLength || text.length > start.length
    ? `${redacted.slice(0, maxLength)}…`
    : redacted;
}

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

/**
 * Drops other members: libraries attach whole connections to their errors, with statements and their values.
 */
function serializeError(error: unknown, causes = 0): unknown {
  if (!isErrorLike(error)) return typeof error === 'string' ? sanitize(error, MAX_MESSAGE) : typeof error;
  const { name, message, stack, cause } = error;
  return {
    type: name ?? 'Error',
    message: sanitize(message, MAX_MESSAGE),
    // A stack starts with the whole message.
    stack: sanitize(stack?.replace(message, () => sanitize(message, MAX_MESSAGE)) ?? '', MAX_STACK),
    ...('code' in error && { code: sanitize(String(error.code), MAX_CODE) }),
    ...(cause !== undefined && causes < MAX_CAUSES && { cause: serializeError(cause, causes + 1) }),
  };
}

type ErrorLike = Omit<Error, 'name'> & { readonly name?: string };

/** The job queue reports copies of errors as plain objects. */
const isErrorLike = (error: unknown): error is ErrorLike =>
  typeof error === 'object' && error !== null && 'message' in error && typeof error.message === 'string';
