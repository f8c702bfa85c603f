// Reads responses of the service: the envelope of a success, and the error in any other.
import type { ErrorCode } from './api/errors.ts';
import { MediaryError } from './errors.ts';

type Envelope = {
  readonly success?: unknown;
  readonly message?: unknown;
  readonly data?: unknown;
  readonly error?: { readonly error_code?: ErrorCode; readonly details?: Record<string, unknown> | null };
  readonly request_id?: string;
};

/** What is left of a response when its connection is closed. */
export type ReceivedResponse = {
  readonly status: number;
  readonly header: (name: string) => string | null;
  readonly text: string;
};

export async function receive(response: Response): Promise<ReceivedResponse> {
  const { status, headers } = response;
  return { status, header: (name) => headers.get(name), text: await response.text() };
}

const isSuccess = ({ status }: ReceivedResponse): boolean => status >= 200 && status < 300;

/** `data` of the envelope; throws the error that the response describes. */
export function readData<T>(response: ReceivedResponse): T {
  const envelope = parseEnvelope(response.text);
  if (!isSuccess(response)) throw toError(response);
  if (envelope?.success === true) return envelope.data as T;
  throw new MediaryError('The response is not one of the Mediary API. Check `baseUrl`.', {
    errorCode: 'INVALID_RESPONSE',
    status: response.status,
  });
}

/** For servers whose successes have no envelope: object stores and video providers. */
export function assertSuccess(response: ReceivedResponse): void {
  if (!isSuccess(response)) throw toError(response);
}

function parseEnvelope(text: string): Envelope | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? value : undefined;
  } catch {
    // Proxies and object stores answer in HTML or XML.
    return undefined;
  }
}

export function toError(response: ReceivedResponse): MediaryError {
  const { status } = response;
  const { message, error, request_id: requestId } = parseEnvelope(response.text) ?? {};
  return new MediaryError(typeof message === 'string' ? message : `The server answered ${status}.`, {
    errorCode: error?.error_code ?? toErrorCode(status),
    status,
    details: error?.details,
    requestId: requestId ?? response.header('x-request-id') ?? undefined,
    retryAfterS: toSeconds(response.header('retry-after')),
  });
}

const CODES: Readonly<Record<number, ErrorCode>> = {
  401: 'UNAUTHORIZED',
  403: 'FORBIDDEN',
  404: 'NOT_FOUND',
  409: 'CONFLICT',
  412: 'PRECONDITION_FAILED',
  413: 'PAYLOAD_TOO_LARGE',
  415: 'UNSUPPORTED_MEDIA_TYPE',
  429: 'RATE_LIMITED',
  501: 'NOT_IMPLEMENTED',
  502: 'UNAVAILABLE',
  503: 'UNAVAILABLE',
  504: 'UNAVAILABLE',
};

/** From here on, proxies tell that they did not reach the service, such as Cloudflare with 520 to 526. */
const FIRST_OF_PROXIES = 520;

function toErrorCode(status: number): ErrorCode {
  if (status < 500) return CODES[status] ?? 'BAD_REQUEST';
  return CODES[status] ?? (status < FIRST_OF_PROXIES ? 'INTERNAL_ERROR' : 'UNAVAILABLE');
}

/** `Retry-After` is a number of seconds or a date. */
function toSeconds(header: string | null): number | undefined {
  if (header === null || header.trim() === '') return undefined;
  const seconds = Number(header);
  if (Number.isFinite(seconds)) return Math.max(0, seconds);
  const date = Date.parse(header);
  return Number.isNaN(date) ? undefined : Math.max(0, Math.ceil((date - Date.now()) / 1000));
}
