// Requests that the SDK does not cover: the operator routes, which answer with the envelope.
import { Readable } from 'node:stream';
import { ConnectionError, type ErrorCode, MediaryError, TimeoutError } from '@mediary/client';
import { describeCause } from './failure.ts';

export type OperatorApi = {
  get<T>(path: string, query?: Query): Promise<T>;
  post<T>(path: string, body: object): Promise<T>;
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
};

const TIMEOUT_MS = 30_000;

type Envelope = {
  readonly success?: boolean;
  readonly message?: string;
  readonly data?: unknown;
  readonly error?: { readonly error_code: ErrorCode; readonly details: Record<string, unknown> | null };
  readonly request_id?: string;
};

export function createOperatorApi(options: OperatorApiOptions): OperatorApi {
  return {
    get: (path, query = {}) => send(options, { method: 'GET', path: path + toSearch(query) }),
    post: (path, body) => send(options, { method: 'POST', path, body }),
    delete: (path, query = {}) => send(options, { method: 'DELETE', path: path + toSearch(query) }),
    send: (path, bytes) => send(options, { method: 'POST', path, bytes }),
    stream: (path) => openStream(options, path),
  };
}

function toSearch(query: Query): string {
  const search = new URLSearchParams(Object.entries(query).flatMap(toParameters));
  return search.size > 0 ? `?${search}` : '';
}

/** An array repeats its name; an object has members as in `metadata[order_id]`. */
function toParameters([name, value]: [string, QueryValue | undefined]): [string, string][] {
  if (value === undefined) return [];
  if (typeof value !== 'object') return [[name, String(value)]];
  return Array.isArray(value)
    ? value.map((each: string) => [name, each])
    : Object.entries(value).map(([member, each]) => [`${name}[${member}]`, each]);
}

type Request = {
  readonly method: string;
  readonly path: string;
  readonly body?: object;
  readonly bytes?: Readable;
};

async function send<T>(options: OperatorApiOptions, request: Request): Promise<T> {
  const { response, text } = await exchange(options, request).catch((error: unknown) => {
    options.signal.throwIfAborted();
    throw toConnectionError(error);
  });
  const envelope = parseEnvelope(text);
  if (response.ok && envelope?.success === true) return envelope.data as T;
  throw toResponseError(response, envelope);
}

async function openStream(options: OperatorApiOptions, path: string): Promise<ReadableStream<Uint8Array>> {
  const { url, operatorKey, signal } = options;
  const headers = { 'X-Operator-Key': operatorKey };
  const response = await fetch(`${url}/api/v1/admin${path}`, { headers, signal }).catch((error: unknown) => {
    signal.throwIfAborted();
    throw toConnectionError(error);
  });
  if (response.ok && response.body) return response.body;
  throw toResponseError(response, parseEnvelope(await response.text()));
}

/** The connection can also break, and the time run out, while the body arrives. */
async function exchange(options: OperatorApiOptions, { method, path, body, bytes }: Request) {
  const response = await fetch(`${options.url}/api/v1/admin${path}`, {
    method,
    headers: {
      'X-Operator-Key': options.operatorKey,
      Prefer: 'handling=strict',
      ...(body && { 'Content-Type': 'application/json' }),
    },
    ...(body && { body: JSON.stringify(body) }),
    ...(bytes && { body: Readable.toWeb(bytes) as never, duplex: 'half' }),
    signal: bytes ? options.signal : AbortSignal.any([options.signal, AbortSignal.timeout(TIMEOUT_MS)]),
  });
  return { response, text: await response.text() };
}

function toConnectionError(error: unknown): MediaryError {
  if (error instanceof Error && error.name === 'TimeoutError')
    return new TimeoutError(`The service did not answer within ${TIMEOUT_MS / 1000} s.`);
  return new ConnectionError(`The connection failed: ${describeCause(error)}`, error);
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
