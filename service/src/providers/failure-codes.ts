// Failure codes of requests to hosted providers.
import type { ProviderFailureCode } from '@mediary/contract/failures';
import { ProviderError } from './provider.ts';

const WITHOUT_RESPONSE = {
  timeout: 'provider_timeout',
  unreachable: 'provider_unreachable',
  too_large: 'provider_error',
} as const satisfies Record<string, ProviderFailureCode>;

type FailedRequest = { readonly failure: keyof typeof WITHOUT_RESPONSE; readonly cause: unknown };

/** The failure of a request without a complete response. */
export const toRequestFailure = ({ failure, cause }: FailedRequest): ProviderError =>
  new ProviderError(WITHOUT_RESPONSE[failure], { cause });

/** The failure that an error status stands for. */
export function toFailureCode(status: number): ProviderFailureCode {
  if (status === 401 || status === 403) return 'provider_credentials';
  if (status === 404 || status === 410) return 'provider_video_missing';
  if (status === 429) return 'provider_rate_limited';
  return status >= 400 && status < 500 ? 'provider_rejected' : 'provider_error';
}
