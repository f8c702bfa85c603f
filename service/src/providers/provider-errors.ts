// Converts failed calls to hosted providers to errors of the API.
import { badRequest, ServiceError } from '../platform/errors.ts';
import { ProviderFailed } from './provider.ts';

/** 400 when the provider rejects this request, otherwise 503 with Retry-After. */
export function throwServiceError(error: unknown): never {
  if (!(error instanceof ProviderFailed)) throw error;
  const {
    failure: { code, message },
    retryAfterSeconds,
  } = error;
  if (code === 'provider_rejected') throw badRequest(message, { field: 'provider', reason: code });
  throw new ServiceError('UNAVAILABLE', message, {
    details: { reason: code },
    cause: error,
    retryAfterSeconds: retryAfterSeconds ?? (OPERATOR_FAILURES.includes(code) ? 300 : undefined),
  });
}

/** Only the operator can end these. */
const OPERATOR_FAILURES: readonly string[] = ['provider_credentials', 'provider_quota'];
