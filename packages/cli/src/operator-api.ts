// Requests that the SDK does not cover: the operator routes, which answer with the envelope.
import { CliError, EXIT } from './exit-codes.ts';

export type OperatorApi = {
  get<T>(path: string, query?: Query): Promise<T>;
  post<T>(path: string, body: object): Promise<T>;
};

type Query = Readonly<Record<string, string | number | boolean | undefined>>;

export type OperatorApiOptions = {
  readonly url: string;
  readonly operatorKey: string;
  readonly signal: AbortSignal;
};

const TIMEOUT_MS = 30_000;

/** A failed response; it has the members of the SDK's error. */
class OperatorRequestError extends Error {
  readonly status: number;
  readonly errorCode: string | undefined;
  readonly details: Readonly<Record<string, unknown>> | null;
  readonly requestId: string | undefined;

  constructor(status: number, { message, error, request_id }: Envelope) {
    super(message ?? `The service answered with status ${status}.`);
    this.status = status;
    this.errorCode = error?.error_code;
    this.details = error?.details ?? null;
    this.requestId = request_id;
  }

  get reason(): unknown {
    return this.details?.['reason'];
  }
}

type Envelope = {
  readonly success?: boolean;
  readonly message?: string;
  readonly data?: unknown;
  readonly error?: { readonly error_code: string; readonly details: Record<string, unknown> | null };
  readonly request_id?: string;
};

export function createOperatorApi(options: OperatorApiOptions): OperatorApi {
  return {
    get: (path, query = {}) => send(options, { method: 'GET', path: path + toSearch(query) }),
    post: (path, body) => send(options, { method: 'POST', path, body }),
  };
}

function toSearch(query: Query): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined) search.set(name, String(value));
  return search.size > 0 ? `?${search}` : '';
}

type Request = { readonly method: string; readonly path: string; readonly body?: object };

async function send<T>(options: OperatorApiOptions, { method, path, body }: Request): Promise<T> {
  const response = await fetch(`${options.url}/api/v1/admin${path}`, {
    method,
    headers: {
      'X-Operator-Key': options.operatorKey,
      ...(body && { 'Content-Type': 'application/json' }),
    },
    ...(body && { body: JSON.stringify(body) }),
    redirect: 'error',
    signal: AbortSignal.any([options.signal, AbortSignal.timeout(TIMEOUT_MS)]),
  });
  const envelope = await readEnvelope(response);
  if (!response.ok || envelope.success !== true) throw new OperatorRequestError(response.status, envelope);
  return envelope.data as T;
}

/** A proxy in front of the service may answer with HTML. */
async function readEnvelope(response: Response): Promise<Envelope> {
  const text = await response.text();
  try {
    return JSON.parse(text) as Envelope;
  } catch {
    if (!response.ok) return {};
    throw new CliError(
      `${response.url} did not answer with JSON. Is this URL the Mediary service?`,
      EXIT.unreachable,
    );
  }
}
