// HTTP client for hosted providers; maps their responses to the common failure codes.
import {
  type HttpRequest,
  sendRequest,
  type ClientLimits,
  parseRetryAfter,
} from '../platform/http-client.ts';
import { ProviderFailed, type ProviderFailureCode } from './provider.ts';

type HostedClientOptions = {
  /** Common prefix of all paths. */
  readonly url: string;
  /** Headers of every request. */
  readonly headers: Readonly<Record<string, string>>;
  /** Reads the product's error from a body; undefined if there is none. */
  readonly codeOf: (body: unknown) => string | undefined;
  readonly limits: ClientLimits | undefined;
};

export type HostedRequest = Omit<HttpRequest, 'url'> & { readonly path: string };
export type HostedResponse = { readonly body: unknown; readonly headers: Headers };

/** Returns a successful response; throws ProviderFailed for any other. */
export const createHostedClient =
  ({ url, headers, codeOf, limits }: HostedClientOptions) =>
  async ({ path, ...asked }: HostedRequest): Promise<HostedResponse> => {
    const answered = await sendRequest(
      { ...asked, url: `${url}${path}`, headers: { ...headers, ...asked.headers } },
      limits,
    );
    if ('failure' in answered) throw new ProviderFailed(BROKEN[answered.failure], { cause: answered.cause });
    if (answered.status >= 200 && answered.status < 300) return answered;
    throw new ProviderFailed(failureOf(answered.status), {
      providerCode: codeOf(answered.body) ?? `HTTP ${answered.status}`,
      retryAfterSeconds: parseRetryAfter(answered.headers, new Date()),
    });
  };

const BROKEN = {
  timeout: 'provider_timeout',
  unreachable: 'provider_unreachable',
  too_large: 'provider_error',
} as const satisfies Record<string, ProviderFailureCode>;

function failureOf(status: number): ProviderFailureCode {
  if (status === 401 || status === 403) return 'provider_credentials';
  if (status === 404 || status === 410) return 'provider_video_missing';
  if (status === 429) return 'provider_rate_limited';
  return status >= 400 && status < 500 ? 'provider_rejected' : 'provider_error';
}
