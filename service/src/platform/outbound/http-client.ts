// HTTP client for other services: limits time and response size, and returns failures as data.
export type HttpRequest = {
  readonly method: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'DELETE';
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON. */
  readonly json?: unknown;
};

/**
 * `body`: the parsed JSON, undefined for any other content. `failure`: the response is missing or incomplete.
 */
type HttpResult =
  | { readonly status: number; readonly headers: Headers; readonly body: unknown }
  | { readonly failure: 'timeout' | 'unreachable' | 'too_large'; readonly cause: unknown };

/** `timeoutMs` covers the whole exchange, from the first byte sent to the last byte read. */
export type ClientLimits = { readonly timeoutMs: number; readonly maxBytes: number };

/** Defaults; callers with slower endpoints pass limits of their own. */
const LIMITS: ClientLimits = { timeoutMs: 8000, maxBytes: 8 * 1024 * 1024 };
/** A longer `Retry-After` of a provider would stop work for hours because of one wrong header. */
const MAX_RETRY_AFTER_S = 3600;

/** Does not throw for network errors or error responses. Does not follow redirects. */
export async function sendRequest(
  { method, url, headers, json }: HttpRequest,
  limits: ClientLimits = LIMITS,
): Promise<HttpResult> {
  const deadline = AbortSignal.timeout(limits.timeoutMs);
  try {
    const response = await fetch(url, {
      method,
      redirect: 'manual',
      signal: deadline,
      headers: {
        accept: 'application/json',
        ...(json !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(json !== undefined && { body: JSON.stringify(json) }),
    });
    const text = await readUpTo(response, limits.maxBytes);
    return text === undefined
      ? { failure: 'too_large', cause: url }
      : { status: response.status, headers: response.headers, body: parseJsonOrUndefined(text) };
  } catch (cause) {
    return { failure: deadline.aborted ? 'timeout' : 'unreachable', cause };
  }
}

async function readUpTo(response: Response, maxBytes: number): Promise<string | undefined> {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const part of response.body ?? []) {
    size += part.length;
    if (size > maxBytes) return undefined;
    parts.push(part);
  }
  return Buffer.concat(parts).toString('utf8');
}

function parseJsonOrUndefined(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // An error page of a proxy; the status code is sufficient.
    return undefined;
  }
}

/** Parses both forms of `Retry-After` to seconds; undefined when the header is missing or invalid. */
export function parseRetryAfter(
  headers: Headers,
  now: Date,
  maxSeconds = MAX_RETRY_AFTER_S,
): number | undefined {
  const value = headers.get('retry-after');
  if (value === null) return undefined;
  const seconds = /^\d+$/.test(value) ? Number(value) : (Date.parse(value) - now.getTime()) / 1000;
  return Number.isFinite(seconds) ? Math.min(Math.max(0, Math.ceil(seconds)), maxSeconds) : undefined;
}
