// Renders an error for the log: bounded, with its causes, without credentials.

/** In characters. An error may quote untrusted input, which has no other limit. */
const MAX_MESSAGE = 2000;
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
export function sanitize(text: string, maxLength: number): string {
  const start = text.slice(0, 2 * maxLength);
  const redacted = CREDENTIALS.reduce(
    (rest, [pattern, replacement]) => rest.replace(pattern, replacement),
    start,
  );
  return redacted.length > maxLength || text.length > start.length
    ? `${redacted.slice(0, maxLength)}…`
    : redacted;
}

/**
 * Drops other members: libraries attach whole connections to their errors, with statements and their values.
 */
export function serializeError(error: unknown, causes = 0): unknown {
  if (!isErrorLike(error)) return typeof error === 'string' ? sanitize(error, MAX_MESSAGE) : typeof error;
  const { name, stack, code, cause } = error;
  const message = messageOf(error);
  return {
    type: name ?? 'Error',
    message: sanitize(message, MAX_MESSAGE),
    // A stack starts with the whole message.
    stack: sanitize(stack?.replace(message, () => sanitize(message, MAX_MESSAGE)) ?? '', MAX_STACK),
    ...(code !== undefined && { code: sanitize(String(code), MAX_CODE) }),
    ...(cause !== undefined && causes < MAX_CAUSES && { cause: serializeError(cause, causes + 1) }),
  };
}

export type ErrorLike = Omit<Error, 'name'> & {
  readonly name?: string;
  readonly code?: unknown;
  readonly errors?: unknown;
};

/** An error of several connection attempts has no message of its own. */
const messageOf = ({ message, errors }: ErrorLike): string =>
  message === '' && Array.isArray(errors) ? errors.filter(isErrorLike).map(messageOf).join('; ') : message;

/** The job queue reports copies of errors as plain objects. */
export const isErrorLike = (error: unknown): error is ErrorLike =>
  typeof error === 'object' && error !== null && 'message' in error && typeof error.message === 'string';
