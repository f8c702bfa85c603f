// Errors of tools as assistants read them: message, code, request id, and what to do.
import { MediaryError, type MediaryErrorCode, UploadError } from '@mediary/client';
import type { McpSettings } from './settings.ts';

type ToolErrorCode = 'INVALID_ARGUMENTS' | 'NOT_CONFIGURED' | 'PATH_REFUSED';

/** An error of this server itself. */
export class ToolError extends Error {
  readonly errorCode: ToolErrorCode;
  readonly hint: string;
  constructor(message: string, { errorCode, hint }: { errorCode: ToolErrorCode; hint: string }) {
    super(message);
    this.errorCode = errorCode;
    this.hint = hint;
  }
}

type DescribedError = {
  readonly message: string;
  readonly error_code: string;
  readonly reason: string | null;
  readonly details: unknown;
  readonly request_id: string | null;
  /** The asset that a failed upload created. */
  readonly asset_id: string | null;
  readonly hint: string | null;
};

export function describeError(error: unknown): DescribedError {
  const known = error instanceof MediaryError ? error : undefined;
  return {
    message: error instanceof Error ? error.message : String(error),
    error_code: known?.errorCode ?? (error instanceof ToolError ? error.errorCode : 'TOOL_FAILED'),
    reason: known?.reason ?? null,
    details: known?.details ?? null,
    request_id: known?.requestId ?? null,
    asset_id: error instanceof UploadError ? error.assetId : null,
    hint: error instanceof ToolError ? error.hint : known ? findHint(known) : null,
  };
}

function findHint({ errorCode, details, retryAfterS }: MediaryError): string | null {
  if (details?.['field'] === 'owner_user_id')
    return 'Pass owner_user_id, or set MEDIARY_OWNER in the configuration of this server.';
  if (retryAfterS !== undefined) return `Call the tool again after ${retryAfterS} s.`;
  return HINTS.get(errorCode) ?? null;
}

const UNREACHABLE = 'get_status finds the cause. MEDIARY_URL of this server names the service.';

const HINTS = new Map<MediaryErrorCode, string>([
  [
    'UNAUTHORIZED',
    'The service refuses the credential. Correct MEDIARY_TOKEN, MEDIARY_SERVICE_KEY or ' +
      'MEDIARY_OPERATOR_KEY in the configuration of this server, and start it again.',
  ],
  ['FORBIDDEN', 'The credential does not open this asset or operation.'],
  ['NOT_FOUND', 'list_assets finds ids; with deleted: true also those of the trash.'],
  ['PRECONDITION_FAILED', 'The asset has changed: read it with find_asset, and decide again.'],
  ['CONNECTION_FAILED', UNREACHABLE],
  ['INVALID_RESPONSE', UNREACHABLE],
  ['TIMEOUT', UNREACHABLE],
]);

/** Removes the credentials of this server from a text, whatever quoted them. */
export function redactSecrets(text: string, { credential, operatorKey }: McpSettings): string {
  const secrets = [...Object.values(credential ?? {}), operatorKey ?? ''].filter(Boolean);
  return secrets.reduce((redacted, secret) => redacted.replaceAll(secret, '[redacted]'), text);
}
