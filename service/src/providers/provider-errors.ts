// What a caller of ours is told when a provider did not do what it should.
import { badRequest, ServiceError } from '../platform/errors.ts';
import { ProviderFailed } from './provider.ts';

/** 400 where the provider refuses this very request, else 503 and when to come back. */
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
    retryAfterSeconds: retryAfterSeconds ?? (code === 'provider_credentials' ? 300 : undefined),
  });
}
