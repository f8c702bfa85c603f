// Asks other services over HTTP: every wait and every answer has a limit, and what went wrong is told as data.
export type HttpRequest = {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON. */
  readonly json?: unknown;
};

/** `body`: the JSON that came, undefined where it was none. `broken`: there was no whole answer. */
export type HttpResult =
  | { readonly status: number; readonly headers: Headers; readonly body: unknown }
  | { readonly broken: 'timeout' | 'unreachable' | 'too_large'; readonly cause: unknown };

/** In milliseconds, from the first byte sent to the last one read; in bytes. */
export type ClientLimits = { readonly timeoutMs: number; readonly maxBytes: number };

const LIMITS: ClientLimits = { timeoutMs: 8000, maxBytes: 8 * 1024 * 1024 };

/** Never throws for what the other side does; redirects are not followed. */
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
      ? { broken: 'too_large', cause: url }
      : { status: response.status, headers: response.headers, body: parseJsonOrUndefined(text) };
  } catch (cause) {
    return { broken: deadline.aborted ? 'timeout' : 'unreachable', cause };
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
    // An error page of something on the way: its status says enough.
    return undefined;
  }
}

/** Seconds, as `Retry-After` tells them in either form; undefined where it says nothing. */
export function parseRetryAfter(headers: Headers, now: Date): number | undefined {
  const told = headers.get('retry-after');
  if (told === null) return undefined;
  const seconds = /^\d+$/.test(told) ? Number(told) : (Date.parse(told) - now.getTime()) / 1000;
  return Number.isFinite(seconds) ? Math.min(Math.max(0, Math.ceil(seconds)), 3600) : undefined;
}
