// Errors as the command reports them: exit code, message, and what to do.
import { CliError, EXIT, type ExitCode } from './exit-codes.ts';
import type { Output } from './output.ts';
import { toPlain } from './text.ts';

/** What an error of a request carries, of the SDK and of operator requests alike. */
type RequestFailure = {
  readonly status: number;
  readonly errorCode?: unknown;
  readonly reason?: unknown;
  readonly details?: unknown;
  readonly requestId?: unknown;
};

export type Failure = {
  readonly exit_code: ExitCode;
  readonly message: string;
  readonly error_code: string | null;
  readonly reason: string | null;
  readonly details: unknown;
  readonly request_id: string | null;
  readonly hint: string | null;
};

export function describeFailure(error: unknown): Failure {
  const failure = {
    exit_code: toExitCode(error),
    message: toMessage(error),
    error_code: null,
    reason: null,
    details: null,
    request_id: null,
    hint: error instanceof CliError ? (error.hint ?? null) : null,
  } satisfies Failure;
  if (!isRequestFailure(error)) return { ...failure, hint: failure.hint ?? hintOf(failure.exit_code) };
  return {
    ...failure,
    error_code: toText(error.errorCode),
    reason: toText(error.reason),
    details: error.details ?? null,
    request_id: toText(error.requestId),
    hint: hintOf(failure.exit_code),
  };
}

/** On stderr; with `--json` as one JSON document. */
export function reportFailure(output: Output, error: unknown): ExitCode {
  const failure = describeFailure(error);
  const { exit_code: exitCode, message, reason, request_id: requestId, hint } = failure;
  if (output.isJson) output.stderr.write(`${JSON.stringify({ error: failure })}\n`);
  else {
    const suffix = [reason && `reason: ${reason}`, requestId && `request: ${requestId}`].filter(Boolean);
    const text = toPlain(message) + (suffix.length > 0 ? ` (${suffix.join(', ')})` : '');
    output.stderr.write(`${output.style('red', 'Error:')} ${text}\n`);
    if (hint) output.stderr.write(`${hint}\n`);
  }
  return exitCode;
}

export function toExitCode(error: unknown): ExitCode {
  if (error instanceof CliError) return error.exitCode;
  if (isAbort(error)) return EXIT.interrupted;
  if (isRequestFailure(error)) return exitCodeOf(error.status);
  return isNetworkError(error) ? EXIT.unreachable : EXIT.failed;
}

function exitCodeOf(status: number): ExitCode {
  if (status === 401 || status === 403) return EXIT.auth;
  if (status === 404) return EXIT.notFound;
  return status === 0 ? EXIT.unreachable : EXIT.failed;
}

const hintOf = (exitCode: ExitCode): string | null => HINTS.get(exitCode) ?? null;

const HINTS = new Map<ExitCode, string>([
  [EXIT.auth, 'Show the credentials in use: mediary config show'],
  [EXIT.unreachable, 'Find the cause: mediary doctor'],
]);

/** undici reports every failure of a connection as a TypeError with a cause. */
function isNetworkError(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return /^(?:fetch failed|terminated)$/.test(error.message) || hasSystemCode(error.cause ?? error);
}

const SYSTEM_CODE =
  /^(?:ECONN|EPIPE|ETIMEDOUT|ENOTFOUND|EAI_|EHOST|ENET|UND_ERR|CERT_|ERR_TLS|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO)/;

const hasSystemCode = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && SYSTEM_CODE.test(String(error.code));

export const isAbort = (error: unknown): boolean => error instanceof Error && error.name === 'AbortError';

const isRequestFailure = (error: unknown): error is Error & RequestFailure =>
  error instanceof Error && 'status' in error && typeof error.status === 'number';

const toText = (value: unknown): string | null => (typeof value === 'string' ? value : null);

function toMessage(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const cause = error.cause instanceof Error ? describeCause(error.cause) : '';
  return isNetworkError(error) && cause ? `The service cannot be reached: ${cause}` : error.message;
}

/** An AggregateError (several addresses of one host) has an empty message. */
const describeCause = (cause: Error): string =>
  cause.message || ('code' in cause ? String(cause.code) : cause.name);
