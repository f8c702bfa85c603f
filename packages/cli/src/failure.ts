// Errors as the command reports them: exit code, message, and what to do.
import { AssetFailedError, MediaryError, type MediaryErrorCode, UploadError } from '@mediary/client';
import { CliError, EXIT, type ExitCode } from './exit-codes.ts';
import type { Output } from './output.ts';
import { findFlag, toFlags } from './flags.ts';
import { toPlain } from './text.ts';

type Failure = {
  readonly exit_code: ExitCode;
  readonly message: string;
  readonly error_code: string | null;
  readonly reason: string | null;
  readonly details: unknown;
  readonly request_id: string | null;
  /** The asset that the failed command created or followed. */
  readonly asset_id: string | null;
  /** The file, where the command sends several. */
  readonly file: string | null;
  readonly hint: string | null;
};

function describeFailure(error: unknown, file: string | undefined): Failure {
  const exitCode = toExitCode(error);
  const known = error instanceof MediaryError ? error : undefined;
  return {
    exit_code: exitCode,
    message: toMessage(error),
    error_code: known?.errorCode ?? null,
    reason: known?.reason ?? null,
    details: known?.details ?? null,
    request_id: known?.requestId ?? null,
    asset_id: findAssetId(error) ?? null,
    file: file ?? null,
    hint: findHint(error, exitCode) ?? null,
  };
}

function findAssetId(error: unknown): string | undefined {
  if (error instanceof UploadError) return error.assetId;
  return error instanceof AssetFailedError ? error.asset.id : undefined;
}

function findHint(error: unknown, exitCode: ExitCode): string | undefined {
  if (error instanceof CliError) return error.hint;
  if (error instanceof AssetFailedError && error.asset.failure?.retryable)
    return `Another attempt can succeed: mediary retry ${error.asset.id}`;
  const field = error instanceof MediaryError ? error.details?.['field'] : undefined;
  if (field === 'owner_user_id') return 'Name the owner: --owner or MEDIARY_OWNER';
  const flag = findFlag(field);
  return flag === undefined ? HINTS.get(exitCode) : `Correct ${flag}.`;
}

const HINTS = new Map<ExitCode, string>([
  [EXIT.auth, 'Show the credentials in use: mediary config show'],
  [EXIT.unreachable, 'Find the cause: mediary doctor'],
]);

/** On stderr; with `--json` as one JSON document. */
export function reportFailure(output: Output, error: unknown, file?: string): ExitCode {
  const failure = describeFailure(error, file);
  const { exit_code: exitCode, message, reason, request_id: requestId, asset_id: assetId, hint } = failure;
  if (output.isJson) output.error(JSON.stringify({ error: failure }));
  else {
    const suffix = [
      reason && `reason: ${reason}`,
      assetId && `asset: ${assetId}`,
      requestId && `request: ${requestId}`,
    ].filter(Boolean);
    const subject = file === undefined ? '' : `${toPlain(file)}: `;
    const text = subject + toPlain(message) + (suffix.length > 0 ? ` (${suffix.join(', ')})` : '');
    output.error(`${output.style('red', 'Error:')} ${text}${hint ? `\n${hint}` : ''}`);
  }
  return exitCode;
}

export function toExitCode(error: unknown): ExitCode {
  if (error instanceof CliError) return error.exitCode;
  if (isAbort(error)) return EXIT.interrupted;
  if (!(error instanceof MediaryError)) return EXIT.failed;
  return CODES.get(error.errorCode) ?? EXIT.failed;
}

const CODES = new Map<MediaryErrorCode, ExitCode>([
  ['UNAUTHORIZED', EXIT.auth],
  ['FORBIDDEN', EXIT.auth],
  ['NOT_FOUND', EXIT.notFound],
  ['ASSET_FAILED', EXIT.assetFailed],
  ['ASSET_DELETED', EXIT.notFound],
  ['TIMEOUT', EXIT.timeout],
  ['CONNECTION_FAILED', EXIT.unreachable],
  ['INVALID_RESPONSE', EXIT.unreachable],
]);

/** What broke a connection: `fetch` hides it in the cause of its error. */
export function describeCause(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  return cause instanceof Error ? cause.message : String(cause);
}

const isAbort = (error: unknown): boolean => error instanceof Error && error.name === 'AbortError';

function toMessage(error: unknown): string {
  if (isAbort(error)) return 'Interrupted.';
  return toFlags(error instanceof Error ? error.message : String(error));
}
