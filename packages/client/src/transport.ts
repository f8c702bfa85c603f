// Sends requests to the API: credentials, idempotency keys, timeouts and retries.
import { hasUnknownOutcome, isTransient, untilAborted, withRetries } from './backoff.ts';
import { assertOriginAllowed } from './cors.ts';
import { type TokenSource, toCredentials } from './request/credentials.ts';
import { withDeadline } from './request/deadline.ts';
import { toHex } from './encoding.ts';
import { MediaryError, TimeoutError, toConnectionError } from './errors.ts';
import { type ReceivedResponse, readData, receive } from './response.ts';

export type MediaryOptions = {
  /** Origin of the service, such as `https://media.example.com`; a path prefix is kept. */
  baseUrl: string;
  /** Access token of a user. Not together with `serviceKey`. */
  token?: TokenSource | undefined;
  /** Key of a back end. Never send it to a browser. Writes then need an owner. */
  serviceKey?: string | undefined;
  /** With `serviceKey`: the owner of calls that name none. See also `forOwner`. */
  ownerUserId?: string | undefined;
  /** Sent with every request to the API, beside the credentials. */
  headers?: Readonly<Record<string, string>> | undefined;
  /** Default: the `fetch` of the platform. Uploads in browsers use XMLHttpRequest unless this is set. */
  fetch?: typeof fetch | undefined;
  /** Repetitions of a request that failed for a transient cause. Default 4. */
  maxRetries?: number | undefined;
  /** Limit of each attempt in milliseconds, uploads of bytes excepted. `Infinity`: none. Default 30000. */
  timeoutMs?: number | undefined;
};

/** Options of every call. */
export type CallOptions = {
  /** Aborts the call; it then rejects with the reason of the signal. */
  signal?: AbortSignal | undefined;
  /** Time limit of each attempt in milliseconds. */
  timeoutMs?: number | undefined;
  maxRetries?: number | undefined;
  /** POST only. Default: a random key; retries of the call repeat it, so that it takes effect once. */
  idempotencyKey?: string | undefined;
  /** With `serviceKey`: the owner of the asset. Default: that of the client. */
  ownerUserId?: string | number | undefined;
};

export type ApiRequest = {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Below `/api/v1`. */
  readonly path: string;
  readonly query?: object | undefined;
  readonly body?: object | undefined;
  /** A body that is no JSON. */
  readonly text?: string | Blob | undefined;
  readonly headers?: Readonly<Record<string, string>>;
  readonly options?: CallOptions | undefined;
  /** False if a repetition does harm, or fails, when the first request took effect. */
  readonly isRepeatable?: boolean;
  /** DELETE: `data` if a repetition finds nothing, because an attempt before it took effect. */
  readonly dataIfGone?: object;
};

export type Transport = {
  /** `data` of the response. */
  request<T>(request: ApiRequest): Promise<T>;
  /** The response as it is; only a lost connection or a timeout is an error. */
  send(request: ApiRequest): Promise<ReceivedResponse>;
  /** A response whose body is read while it arrives. `signal` also ends the reading. */
  open(request: ApiRequest, signal: AbortSignal): Promise<Response>;
  /** The token has expired, and its source can return another one. */
  canRenewToken(error: unknown): boolean;
  readonly fetch: typeof fetch;
  /** Undefined: the platform's own `fetch` is used. */
  readonly customFetch: typeof fetch | undefined;
  readonly maxRetries: number;
  readonly baseUrl: string;
  /** Requests go to a back end, which offers a part of the API. */
  readonly isRelayed: boolean;
  /** Of calls that name none. */
  readonly ownerUserId: string | undefined;
};

const DEFAULTS = { maxRetries: 4, timeoutMs: 30_000 };

/** Where requests go instead of the API, and how its responses become those of the API. */
export type Relay = {
  /** `path`: below `/api/v1`. Throws for operations that the relay does not offer. */
  readonly toUrl: (path: string) => string;
  readonly toApiResponse: (response: ReceivedResponse) => ReceivedResponse;
};

export function createTransport(options: MediaryOptions, relay?: Relay): Transport {
  const { baseUrl, token, serviceKey, fetch: customFetch, ownerUserId } = options;
  if (token !== undefined && serviceKey !== undefined)
    throw new TypeError(
      'Pass `token` or `serviceKey`, not both: the service refuses requests with two credentials.',
    );
  const root = baseUrl.replace(/\/+$/, '').replace(/\/api\/v1$/, '');
  // Looked up at each call, so that tests and polyfills can replace it.
  const fetchNow: typeof fetch = customFetch ?? ((input, init) => globalThis.fetch(input, init));
  const maxRetries = options.maxRetries ?? DEFAULTS.maxRetries;

  const open = async (request: ApiRequest, signal: AbortSignal): Promise<Response> => {
    const credentials = await untilAborted(toCredentials(options), signal);
    const headers = { ...options.headers, ...toHeaders(request), ...credentials };
    const body = request.body === undefined ? request.text : JSON.stringify(request.body);
    const init = { method: request.method, headers, signal, ...(body !== undefined && { body }) };
    const url = relay ? relay.toUrl(request.path) : `${root}/api/v1${request.path}`;
    return orConnectionError(fetchNow(withQuery(url, request.query), init)).catch(async (error: unknown) => {
      signal.throwIfAborted();
      if (!relay) await assertOriginAllowed(fetchNow, root, signal);
      throw error;
    });
  };
  const send = (request: ApiRequest): Promise<ReceivedResponse> => {
    const limitMs = request.options?.timeoutMs ?? options.timeoutMs ?? DEFAULTS.timeoutMs;
    const createError = () => new TimeoutError(`The service did not answer within ${limitMs} ms.`);
    // It covers the body of the response.
    return withDeadline({ signal: request.options?.signal, limitMs, createError }, async (signal) => {
      const response = await orConnectionError(receive(await open(request, signal)));
      return relay ? relay.toApiResponse(response) : response;
    });
  };
  const canRenewToken = (error: unknown): boolean => typeof token === 'function' && hasExpired(error);
  const request = async <T>(call: ApiRequest): Promise<T> => {
    const keyed = withIdempotencyKey(call);
    const canRepeat = (error: unknown): boolean =>
      isTransient(error) && (call.isRepeatable !== false || !hasUnknownOutcome(error));
    return withRetries(
      {
        maxRetries: call.options?.maxRetries ?? maxRetries,
        signal: call.options?.signal,
        isRetryable: (error) => canRepeat(error) || canRenewToken(error),
      },
      acceptGone(call.dataIfGone, async () => readData<T>(await send(keyed))),
    );
  };
  const isRelayed = relay !== undefined;
  const target = { fetch: fetchNow, customFetch, maxRetries, baseUrl: root, ownerUserId, isRelayed };
  return { request, send, open, canRenewToken, ...target };
}

/** Takes a 404 for success if an earlier run may have deleted what `run` deletes. */
function acceptGone<T>(dataIfGone: object | undefined, run: () => Promise<T>): () => Promise<T> {
  if (!dataIfGone) return run;
  let mayBeGone = false;
  return async () => {
    try {
      return await run();
    } catch (error) {
      if (mayBeGone && error instanceof MediaryError && error.status === 404) return dataIfGone as T;
      mayBeGone ||= hasUnknownOutcome(error);
      throw error;
    }
  };
}

const hasExpired = (error: unknown): boolean =>
  error instanceof MediaryError && error.status === 401 && error.reason === 'expired';

const toHeaders = ({ body, text, headers }: ApiRequest): Record<string, string> => ({
  accept: 'application/json',
  // A misspelt member is an error instead of being ignored.
  prefer: 'handling=strict',
  ...(text !== undefined && { 'content-type': 'text/plain' }),
  ...(body !== undefined && { 'content-type': 'application/json' }),
  ...headers,
});

const withIdempotencyKey = (request: ApiRequest): ApiRequest =>
  request.method === 'POST'
    ? {
        ...request,
        headers: {
          ...request.headers,
          'idempotency-key': request.options?.idempotencyKey ?? createIdempotencyKey(),
        },
      }
    : request;

/** `crypto.randomUUID` is missing on pages without https. */
const createIdempotencyKey = (): string => toHex(crypto.getRandomValues(new Uint8Array(16)));

function withQuery(url: string, query: object = {}): string {
  const text = new URLSearchParams(
    Object.entries(query).flatMap(([name, value]) => toParameters(name, value)),
  ).toString();
  return text === '' ? url : `${url}${url.includes('?') ? '&' : '?'}${text}`;
}

/** An array repeats its name; an object has members as in `metadata[order_id]`. */
function toParameters(name: string, value: unknown): [name: string, text: string][] {
  if (value === undefined || value === null) return [];
  if (Array.isArray(value)) return value.flatMap((each) => toParameters(name, each));
  if (typeof value !== 'object') return [[name, String(value)]];
  return Object.entries(value).flatMap(([member, each]) => toParameters(`${name}[${member}]`, each));
}

const orConnectionError = <T>(pending: Promise<T>): Promise<T> =>
  pending.catch((error: unknown) => {
    throw toConnectionError('The connection failed', error);
  });

/** Builds `<root>/{id}<rest>` with an id that cannot change the path. `noun`: what the id names. */
export const pathBelow =
  (root: string, noun: string) =>
  (id: string, rest = ''): string => {
    if (id === '') throw new TypeError(`The id of the ${noun} is empty.`);
    return `${root}/${encodeURIComponent(id)}${rest}`;
  };
