// Structured logs: JSON lines on standard output; secrets travel in types that do not print, URLs are never logged.
import { type DestinationStream, type Logger, pino } from 'pino';

export type { Logger } from 'pino';

/** Lines are written together, at the latest after this time, and at the exit of the process. */
const FLUSH_MS = 200;
const FLUSH_BYTES = 4096;

export const createLogger = (level: string, output: DestinationStream = standardOutput()): Logger =>
  pino({ level, base: null, serializers: { err: factsOf }, formatters: { log: boundMembers } }, output);

function standardOutput(): DestinationStream {
  const output = pino.destination({ dest: 1, sync: false, minLength: FLUSH_BYTES });
  setInterval(() => output.flush(), FLUSH_MS).unref();
  return output;
}

/** In characters: an error may quote what a stranger sent, which has no other limit. */
const MAX_TEXT = 2000;
const MAX_MESSAGE = 1000;
const MAX_STACK = 4000;
const MAX_CAUSES = 5;

/** Errors of libraries may name a URL with its credentials, or a header. */
const CREDENTIALS: readonly (readonly [found: RegExp, shown: string])[] = [
  [/(\b[a-z][a-z0-9+.-]*:\/\/)[^\s/@]+@/gi, '$1[secret]@'],
  [/(\b[a-z][a-z0-9+.-]*:\/\/[^\s?#]+)\?[^\s'"]*/gi, '$1?[secret]'],
  [/(ticket|token|key|signature|secret|password)=[^\s&"')]+/gi, '$1=[secret]'],
  [/\/~[\w-]{16,}/g, '/~[secret]'],
  [/\b(Bearer|Basic) [\w.~+/=-]+/gi, '$1 [secret]'],
];

/** The text without credentials, cut to a length. */
function bound(text: string, longest: number): string {
  const start = text.slice(0, 2 * longest);
  const clean = CREDENTIALS.reduce((rest, [found, shown]) => rest.replace(found, shown), start);
  return clean.length > longest || text.length > start.length ? `${clean.slice(0, longest)}…` : clean;
}

/** Only long texts cost anything: the usual line has none. */
function boundMembers(line: Record<string, unknown>): Record<string, unknown> {
  for (const value of Object.values(line))
    if (typeof value === 'string' && value.length > MAX_TEXT)
      return Object.fromEntries(
        Object.entries(line).map(([name, member]) => [
          name,
          typeof member === 'string' ? bound(member, MAX_TEXT) : member,
        ]),
      );
  return line;
}

/** No other members: libraries hang whole connections on their errors, with statements and what was in them. */
function factsOf(error: unknown, causes = 0): unknown {
  if (!(error instanceof Error)) return typeof error === 'string' ? bound(error, MAX_MESSAGE) : typeof error;
  const { name, message, stack, cause } = error;
  return {
    type: name,
    message: bound(message, MAX_MESSAGE),
    // A stack starts with the whole message.
    stack: bound(stack?.replace(message, () => bound(message, MAX_MESSAGE)) ?? '', MAX_STACK),
    ...('code' in error && { code: bound(String(error.code), 100) }),
    ...(cause !== undefined && causes < MAX_CAUSES && { cause: factsOf(cause, causes + 1) }),
  };
}
