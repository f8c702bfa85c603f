// Routes of a simulator: a name that faults refer to, access control, and a handler.
import type { IncomingHttpHeaders } from 'node:http';

export type Call = {
  readonly method: string;
  /** The path as received, not decoded. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
  /** Named groups of the route's pattern. */
  readonly params: Readonly<Record<string, string>>;
  readonly body: AsyncIterable<Buffer>;
  /** Origin of the simulator. */
  readonly origin: string;
};

export type RouteResponse = {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | { readonly file: string };
};

export type Route = {
  readonly name: string;
  readonly group: 'api' | 'upload' | 'playback' | 'control';
  readonly method: string;
  readonly path: RegExp;
  readonly guard?: (call: Call) => RouteResponse | undefined;
  readonly run: (call: Call) => RouteResponse | Promise<RouteResponse>;
};

/** Ends a call with this response from any depth. */
export class ResponseError extends Error {
  readonly answer: RouteResponse;
  constructor(answer: RouteResponse) {
    super(`${answer.status}`);
    this.answer = answer;
  }
}

export const json = (status: number, body: unknown): RouteResponse => ({
  status,
  headers: { 'Content-Type': 'application/json' },
  body: JSON.stringify(body),
});

export function header({ headers }: Call, name: string): string | undefined {
  const value = headers[name.toLowerCase()];
  return Array.isArray(value) ? value.join(',') : value;
}

export async function readBody({ body }: Call, maxBytes = 1024 * 1024): Promise<Buffer> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of body) {
    size += part.length;
    if (size > maxBytes)
      throw new ResponseError(json(413, { message: `The body is longer than ${maxBytes} bytes` }));
    parts.push(part);
  }
  return Buffer.concat(parts);
}

export type JsonObject = Readonly<Record<string, unknown>>;

/** An empty body counts as an empty object. */
export async function readJson(call: Call): Promise<JsonObject> {
  const text = (await readBody(call)).toString() || '{}';
  const value = parseJson(text);
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new ResponseError(json(400, { message: 'The body is not a JSON object' }));
  return value as JsonObject;
}

export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // The caller reports invalid JSON in the provider's format.
  }
}
