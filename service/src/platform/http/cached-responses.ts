// Serves repeated requests before Fastify, which takes most of the time of a small response.
import type { IncomingMessage, RequestListener } from 'node:http';
import { headerValues } from './headers.ts';
import { getRequestId } from './request-id.ts';

/** A response with status 200. */
export type CachedResponse = {
  /** Names and values in turn, without `x-request-id`. */
  readonly headers: readonly string[];
  readonly body: Uint8Array | '';
};

/** A GET without a range, conditions or a body. */
export type PlainRequest = {
  readonly url: string | undefined;
  /** The address of the other end of the connection: the client, or a proxy. */
  readonly address: string | undefined;
  /** Whether a proxy names its client. */
  readonly isForwarded: boolean;
};

/** Undefined: the request goes to its route. */
export type FindCachedResponse = (request: PlainRequest) => CachedResponse | undefined;

export const sendCachedFirst =
  (find: FindCachedResponse, handler: RequestListener): RequestListener =>
  (request, response) => {
    const cached = isPlain(request) ? find(toPlainRequest(request)) : undefined;
    if (!cached) return handler(request, response);
    response.writeHead(200, [...cached.headers, 'x-request-id', getRequestId(request)]);
    response.end(cached.body);
  };

/** Headers that change the status or the body of a response, or that a route checks. */
const SPECIAL_HEADERS = ['range', 'if-none-match', 'content-length', 'transfer-encoding', 'expect'] as const;

function isPlain(request: IncomingMessage): boolean {
  const { method, headers } = request;
  if (method !== 'GET' || SPECIAL_HEADERS.some((name) => headers[name] !== undefined)) return false;
  return headerValues(request, 'host').length === 1;
}

const toPlainRequest = ({ url, socket, headers }: IncomingMessage): PlainRequest => ({
  url,
  address: socket.remoteAddress,
  isForwarded: Boolean(headers['x-forwarded-for']),
});
