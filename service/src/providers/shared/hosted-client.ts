// HTTP client for hosted providers: maps their responses to common failure codes, and checks credentials.
import type { ProviderFailureCode } from '@mediary/contract/failures';
import {
  type ClientLimits,
  type HttpRequest,
  parseRetryAfter,
  sendRequest,
} from '../../platform/outbound/http-client.ts';
import { toFailureCode, toRequestFailure } from '../failure-codes.ts';
import { ProviderError } from '../provider.ts';

type HostedClientOptions = {
  /** Common prefix of all paths. */
  readonly url: string;
  /** Headers of every request. */
  readonly headers: Readonly<Record<string, string>>;
  /** Parses the provider's error code in a body; undefined if there is none. */
  readonly parseErrorCode: (body: unknown) => string | undefined;
  /** Provider's error code → failure, for codes that are more precise than the HTTP status. */
  readonly failuresByCode?: Readonly<Record<string, ProviderFailureCode>>;
  readonly limits: ClientLimits | undefined;
};

export type HostedRequest = Omit<HttpRequest, 'url'> & { readonly path: string };
export type HostedResponse = { readonly body: unknown; readonly headers: Headers };
export type SendHosted = (request: HostedRequest) => Promise<HostedResponse>;

/** Returns a successful response; throws ProviderError for any other. */
export const createHostedClient =
  ({ url, headers, parseErrorCode, failuresByCode = {}, limits }: HostedClientOptions): SendHosted =>
  async ({ path, ...request }) => {
    const response = await sendRequest(
      { ...request, url: `${url}${path}`, headers: { ...headers, ...request.headers } },
      limits,
    );
    if ('failure' in response) throw toRequestFailure(response);
    if (response.status >= 200 && response.status < 300) return response;
    const code = parseErrorCode(response.body);
    throw new ProviderError(failuresByCode[code ?? ''] ?? toFailureCode(response.status), {
      providerCode: code ?? `HTTP ${response.status}`,
      retryAfterSeconds: parseRetryAfter(response.headers, new Date()),
    });
  };

/** Edits a missing video: true if the credentials permit that, undefined if the response does not show it. */
export const canWrite = (send: SendHosted, path: string): Promise<boolean | undefined> =>
  send({ method: 'POST', path, json: {} }).then(
    () => true,
    (error: unknown) => {
      if (!(error instanceof ProviderError)) throw error;
      return WRITE_RESULTS[error.failure.code];
    },
  );

const WRITE_RESULTS: Partial<Record<ProviderFailureCode, boolean>> = {
  provider_video_missing: true,
  provider_rejected: true,
  provider_credentials: false,
};

/** The status of a file at a delivery host; undefined when it does not answer. */
export async function readStatus(url: string, limits: ClientLimits | undefined): Promise<number | undefined> {
  const response = await sendRequest({ method: 'HEAD', url }, limits);
  return 'failure' in response ? undefined : response.status;
}

/** `url` is the configured value; `key` and `account` are names of settings. */
type CheckedSettings = { readonly url: string; readonly key: string; readonly account: string };

/** Describes a failed credential check for operators; empty after a success. */
export async function describeFailure(
  check: Promise<unknown>,
  settings: CheckedSettings,
): Promise<readonly string[]> {
  try {
    await check;
    return [];
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error;
    const {
      failure: { code, message },
      providerCode,
    } = error;
    const text = DESCRIPTIONS[code]?.(settings) ?? `${settings.url}: ${message}`;
    return [providerCode === undefined ? text : `${text} (${providerCode})`];
  }
}

const DESCRIPTIONS: Partial<Record<ProviderFailureCode, (settings: CheckedSettings) => string>> = {
  provider_unreachable: ({ url }) => `${url} cannot be reached`,
  provider_timeout: ({ url }) => `${url} does not answer`,
  provider_credentials: ({ url, key, account }) =>
    `${url} does not accept ${key} for the ${account} that is set`,
  provider_video_missing: ({ url, account }) => `${url} does not know the ${account} that is set`,
};
