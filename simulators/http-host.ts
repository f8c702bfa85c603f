// HTTP server of a simulator: matches routes, applies faults and sends responses.
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { writeResponse } from './response-writer.ts';
import type { ApiFault, Faults } from './fault.ts';
import { type RouteResponse, type Call, json, ResponseError, type Route } from './route.ts';

export type RequestLine = {
  readonly route: string;
  readonly method: string;
  readonly path: string;
  readonly status: number | 'cut';
};
type HttpHost = {
  readonly url: string;
  readonly serve: (served: ServedRoutes) => void;
  readonly stop: () => Promise<void>;
};
type ServedRoutes = {
  readonly routes: readonly Route[];
  readonly faults: Faults;
  readonly record: (line: RequestLine) => void;
};

const ALLOWED_HEADERS = [
  'Authorization',
  'Content-Type',
  'Range',
  'Origin',
  'Upload-Length',
  'Upload-Offset',
  'Upload-Metadata',
  'Upload-Defer-Length',
  'Upload-Concat',
  'Upload-Checksum',
  'Tus-Resumable',
  'X-HTTP-Method-Override',
  'X-Requested-With',
  'X-Request-ID',
  'AuthorizationSignature',
  'AuthorizationExpire',
  'VideoId',
  'LibraryId',
];
const EXPOSED_HEADERS = [
  'Location',
  'Upload-Offset',
  'Upload-Length',
  'Upload-Metadata',
  'Upload-Expires',
  'Tus-Version',
  'Tus-Resumable',
  'Tus-Max-Size',
  'Tus-Extension',
  'stream-media-id',
  'Content-Length',
  'Content-Range',
  'Accept-Ranges',
  'Retry-After',
];
/**
 * CORS headers, also for errors. Routes of the group `api` have none, because only the service calls them.
 */
const CORS = {
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Allow-Methods': 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS',
  'Access-Control-Allow-Headers': ALLOWED_HEADERS.join(', '),
  'Access-Control-Expose-Headers': EXPOSED_HEADERS.join(', '),
  'Access-Control-Max-Age': '86400',
};

/** Listens first, because routes may contain the address; requests are served after `serve`. */
export async function listen(port: number): Promise<HttpHost> {
  const server = createServer();
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    serve: (served) =>
      void server.on('request', (request, response) => void serve({ ...served, url, request, response })),
    stop: async () => {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

type ServedRequest = ServedRoutes & {
  readonly url: string;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
};

async function serve(served: ServedRequest): Promise<void> {
  const { routes, faults, record, request, response } = served;
  // A request that a fault ends in its body loses its socket.
  const { socket } = request;
  const call = toCall(served);
  const route =
    routes.find(({ method, path }) => method === methodOf(call, routes) && path.test(call.path)) ??
    findFallbackRoute(call, routes);
  const fault = route.group === 'control' ? undefined : faults.forCall(route);
  const answer = await runRoute(route, { ...call, params: { ...route.path.exec(call.path)?.groups } }, fault);
  record({ route: route.name, method: call.method, path: call.path, status: answer?.status ?? 'cut' });
  if (!answer) return void socket.destroy();
  if (fault?.do === 'slow') await wait(fault.ms ?? 1000, undefined, { ref: false });
  const headers =
    route.group === 'upload' || route.group === 'playback'
      ? { ...CORS, ...answer.headers }
      : { ...answer.headers };
  await writeResponse({
    request,
    response,
    answer: { ...answer, headers },
    pauseMs: fault?.do === 'slow_body' ? (fault.ms ?? 1000) : 0,
  });
}

function toCall({ request, url }: ServedRequest): Call {
  // A request target may be *, an absolute URL or no URL at all.
  const { pathname, searchParams } = URL.parse(request.url ?? '/', url) ?? new URL(url);
  const method = request.headers['x-http-method-override'] ?? request.method ?? 'GET';
  return {
    method: String(method),
    path: pathname,
    query: searchParams,
    headers: request.headers,
    params: {},
    body: request,
    origin: url,
  };
}

/** HEAD uses the GET route unless it has its own. */
function methodOf({ method, path }: Call, routes: readonly Route[]): string {
  const isOwn = routes.some((route) => route.method === method && route.path.test(path));
  return method === 'HEAD' && !isOwn ? 'GET' : method;
}

function findFallbackRoute(call: Call, routes: readonly Route[]): Route {
  const known = routes.find(
    ({ path, group }) => path.test(call.path) && (group === 'upload' || group === 'playback'),
  );
  if (call.method === 'OPTIONS' && known)
    return { ...known, name: 'preflight', run: () => ({ status: 204 }), guard: () => undefined };
  return {
    name: 'none',
    group: 'api',
    method: call.method,
    path: /()/,
    run: () => json(404, { message: 'Not found' }),
  };
}

/** Undefined when the connection must be cut. */
async function runRoute(route: Route, call: Call, fault?: ApiFault): Promise<RouteResponse | undefined> {
  if (fault?.do === 'status') return toFaultResponse(fault);
  if (fault?.do === 'cut' && fault.afterBytes === undefined) return undefined;
  try {
    const body = fault?.do === 'cut' ? cutAfter(call.body, fault.afterBytes ?? 0) : call.body;
    const answer = route.guard?.(call) ?? (await route.run({ ...call, body }));
    return fault?.do === 'lose_answer' ? undefined : answer;
  } catch (error) {
    if (error instanceof ResponseError) return error.answer;
    if (error instanceof BodyCut || (error as NodeJS.ErrnoException).code === 'ECONNRESET') return undefined;
    return json(500, { message: String(error) });
  }
}

function toFaultResponse({ status = 503, retryAfter }: ApiFault): RouteResponse {
  const message = 'An injected fault';
  const answer = json(status, {
    success: false,
    message,
    statusCode: status,
    errors: [{ code: status, message }],
    messages: [],
    result: null,
  });
  return retryAfter === undefined
    ? answer
    : { ...answer, headers: { ...answer.headers, 'Retry-After': String(retryAfter) } };
}

class BodyCut extends Error {}

async function* cutAfter(body: AsyncIterable<Buffer>, maxBytes: number): AsyncGenerator<Buffer> {
  let left = maxBytes;
  for await (const part of body) {
    yield part.subarray(0, left);
    left -= part.length;
    if (left <= 0) throw new BodyCut();
  }
}
