// Why an import fails: translates problems of the download and of the store to failures (contract B4).
import { FAILURE_CODES, type FailureCode } from '@mediary/contract/failures';
import type { Failure } from '../../assets/asset.ts';
import { ServiceError } from '../../platform/http/errors.ts';
import { toContentFailure } from '../content-check.ts';

type ImportFailureCode = Extract<FailureCode, `import_${string}`>;

/** An outbound request that failed. */
type Problem = {
  readonly reason: string;
  readonly detail: string | undefined;
  readonly status: number | undefined;
};

/** Reasons of outbound failures that are not `import_failed`. */
const CODES: Readonly<Record<string, ImportFailureCode>> = {
  address_refused: 'import_refused',
  timeout: 'import_timeout',
  too_large: 'import_too_large',
};

const EXPLANATIONS: Readonly<Record<string, string>> = {
  dns_failed: 'Its host name does not resolve to a public address.',
  connect_failed: 'The server does not accept connections.',
  tls_failed: 'The TLS connection failed; the certificate may not be valid.',
  too_many_redirects: 'It redirects too often.',
  invalid_response: 'The response is not valid HTTP, or its body is compressed.',
  connection_lost: 'The connection was lost several times.',
  restart_required: 'The connection was lost, and the server cannot continue a download.',
};

/** Both are one answer: a caller must not learn which names exist in the operator's network. */
const toPublicReason = ({ reason, detail }: Problem): string =>
  reason === 'address_refused' && detail === 'private_name' ? 'dns_failed' : reason;

export function describeProblem(problem: Problem): {
  readonly code: ImportFailureCode;
  readonly message: string;
} {
  const { status } = problem;
  const reason = toPublicReason(problem);
  const code = CODES[reason] ?? 'import_failed';
  const explanation =
    status === undefined ? EXPLANATIONS[reason] : `The server answered with status ${status}.`;
  return { code, message: [FAILURE_CODES[code], explanation].filter(Boolean).join(' ') };
}

/** Of a download that cannot be continued, after its last run. Workers that crash end runs too. */
export const TOO_MANY_RUNS =
  `${FAILURE_CODES.import_failed} Each attempt ended early. The server may be too slow, or may not ` +
  'continue downloads.';

/** All are retryable: `retry` imports again while the source is stored, and otherwise opens an upload. */
export const toImportFailure = (code: ImportFailureCode, message: string = FAILURE_CODES[code]): Failure => ({
  code,
  message,
  retryable: true,
});

export const toDownloadFailure = (problem: Problem): Failure => {
  const { code, message } = describeProblem(problem);
  return toImportFailure(code, message);
};

/** The provider did not take the file. A retry imports again, which may succeed once its cause is gone. */
export const toProviderFailure = (failure: Failure): Failure => ({ ...failure, retryable: true });

const toRetryable = (code: FailureCode): Failure => ({ code, message: FAILURE_CODES[code], retryable: true });

export const VIDEO_TOO_LONG = toRetryable('too_long');
/** It took too long, or crashed its workers. */
export const TRANSFER_FAILED = toRetryable('upload_failed');

/** A retry adopts again, which may succeed once the operator has ended the cause. */
export const toAdoptionFailure = (cause: string): Failure => ({
  code: 'adoption_failed',
  message: `${FAILURE_CODES.adoption_failed.replace(/\.$/, '')}: ${cause}.`,
  retryable: true,
});

/**
 * Another request to the same URL, or to the provider, may succeed, so that the source is worth keeping for a
 * retry.
 */
export const keepsSource = ({ code }: Failure): boolean =>
  ['import_failed', 'import_timeout', 'adoption_failed', 'upload_failed'].includes(code) ||
  code.startsWith('provider_');

/** The failure that an error of the store stands for; undefined if the job has to run again. */
export function toStoreFailure(error: unknown): Failure | undefined {
  if (!(error instanceof ServiceError)) return undefined;
  const { code, details, message } = error;
  if (code === 'PAYLOAD_TOO_LARGE') return toImportFailure('import_too_large');
  if (code !== 'BAD_REQUEST') return undefined;
  if (details?.reason === 'quota_exceeded') return toImportFailure('import_too_large', message);
  if (details?.reason === 'empty_upload') return toImportFailure('import_failed', EMPTY_FILE);
  return details?.['field'] === 'size_bytes' ? toContentFailure('size_mismatch') : undefined;
}

const EMPTY_FILE = `${FAILURE_CODES.import_failed} The response has no bytes.`;
