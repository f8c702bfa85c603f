// Requests to the operator routes, which the SDK has no functions for.
import { Readable } from 'node:stream';
import { ConnectionError, createMediary, type ErrorCode, type Mediary, MediaryError } from '@mediary/client';
import { describeCause } from './failure.ts';

export type OperatorApi = {
  get<T>(path: string, query?: Query): Promise<T>;
  /** `maxRetries`: of requests that take effect once, however often they are sent. Default: none. */
  post<T>(path: string, body: object, maxRetries?: number): Promise<T>;
  delete<T>(path: string, query?: Query): Promise<T>;
  /** Sends bytes, for as long as they take. */
  send<T>(path: string, bytes: Readable): Promise<T>;
  /** A response that may take as long as it needs, once it begins. */
  stream(path: string): Promise<ReadableStream<Uint8Array>>;
};

type QueryValue = string | number | boolean | readonly string[] | Readonly<Record<string, string>>;
type Query = Readonly<Record<string, QueryValue | undefined>>;

type OperatorApiOptions = {
  readonly url: string;
  readonly operatorKey: string;
  readonly signal: AbortSignal;
  /** Of reads. */
  readonly maxRetries: number;
};

export function createOperatorApi(options: OperatorApiOptions): OperatorApi {
  const { url, operatorKey, signal, maxRetries } = options;
  const mediary = createMediary({ baseUrl: url, headers: { 'X-Operator-Key': operatorKey }, maxRetries });
  const request = <T>(method: 'GET' | 'POST' | 'DELETE', path: string, more: Partial<ApiRequest>) =>
    mediary.request<T>({ method, path: `/admin${path}`, ...more, options: { signal, ...more.options } });
  return {
    get: (path, query) => request('GET', path, { query }),
    post: (path, body, retries = 0) => request('POST', path, { body, options: { maxRetries: retries } }),
    delete: (path, query) => request('DELETE', path, { query, options: { maxRetries: 0 } }),
    send: (path, bytes) => sendBytes(options, path, bytes),
    stream: async (path) => {
      const get = { method: 'GET', path: `/admin${path}`, options: { signal } } as const;
      return (await mediary.requestBytes(get)).body ?? new ReadableStream();
    },
  };
}

type ApiRequest = Parameters<Mediary['request']>[0];

type Envelope = {
  readonly success?: boolean;
  readonly message?: string;
  readonly data?: unknown;
  readonly error?: { readonly error_code: ErrorCode; readonly details: Record<string, unknown> | null };
  readonly request_id?: string;
};

/** The SDK sends no streams. */
async function sendBytes<T>(options: OperatorApiOptions, path: string, bytes: Readable): Promise<T> {
  const { response, text } = await exchange(options, path, bytes).catch((error: unknown) => {
    options.signal.throwIfAborted();
    throw new ConnectionError(`The connection failed: ${describeCause(error)}`, error);
  });
  const envelope = parseEnvelope(text);
  if (response.ok && envelope?.success === true) return envelope.data as T;
  throw toResponseError(response, envelope);
}

/** The connection can also break while the body arrives. */
async function exchange({ url, operatorKey, signal }: OperatorApiOptions, path: string, bytes: Readable) {
  const response = await fetch(`${url}/api/v1/admin${path}`, {
    method: 'POST',
    headers: { 'X-Operator-Key': operatorKey, Prefer: 'handling=strict' },
    body: Readable.toWeb(bytes) as never,
    duplex: 'half',
    signal,
  });
  return { response, text: await response.text() };
}

function toResponseError({ status, ok }: Response, envelope: Envelope | undefined): MediaryError {
  const { message, error, request_id: requestId } = envelope ?? {};
  const details = error?.details;
  const errorCode = error?.error_code ?? 'INVALID_RESPONSE';
  const text = ok
    ? 'The response is not one of the Mediary API.'
    : `The service answered with status ${status}.`;
  return new MediaryError(message ?? text, { errorCode, status, details, requestId });
}

/** A proxy in front of the service may answer with HTML. */
function parseEnvelope(text: string): Envelope | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}
