// Creates the HTTP server with its limits; every response, also to malformed HTTP, uses the envelope.
import { createServer as createHttpServer, type RequestListener, type ServerOptions } from 'node:http';
import type { Socket } from 'node:net';
import Fastify, {
  LogController,
  type FastifyBaseLogger,
  type FastifyError,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
} from 'fastify';
import { statusOf } from '@mediary/contract/errors';
import { badRequest, notFound, type ServiceError } from './errors.ts';
import type { TrustedProxies } from './settings.ts';
import { failure, RETRY_AFTER, toServiceError } from './envelope.ts';
import { closeSlowBodies, closeStalledWrites } from './limits/slow-clients.ts';
import { closeSocketWith, limitConnections, handleSequentially } from './limits/connections.ts';
import { type FindCachedResponse, sendCachedFirst } from './cached-responses.ts';
import { acceptJsonBodies } from './raw-body.ts';
import { drainRefusedBody } from './limits/refused-bodies.ts';
import { getRequestId } from './request-id.ts';
import { type DescribeRequest, openScopes } from './request-scope.ts';
import { validatorCompiler } from './validation.ts';

const MAX_JSON_BYTES = 128 * 1024;
const MAX_HEADER_BYTES = 32 * 1024;
const HEADERS_TIMEOUT_MS = 10_000;
/**
 * Longer than the idle timeout of common load balancers (60 s), so that they never reuse a closed connection.
 */
const KEEP_ALIVE_MS = 72_000;
/** Node checks only every 30 s by default, which would be added to each timeout. */
const CHECK_EVERY_MS = 1000;

export type HttpServer = FastifyInstance;

type CreateOptions = {
  readonly maxConnections: number;
  /** Proxies whose `X-Forwarded-For` is trusted. */
  readonly trustProxy?: TrustedProxies;
  /** How often connections are checked against their timeouts. */
  readonly checkEveryMs?: number;
  /** Answers requests before the routes do. */
  readonly findCachedResponse?: FindCachedResponse;
  /** Default: no request is traced. */
  readonly describeRequest?: DescribeRequest;
};

/** Without these factories, Fastify loads its default compilers, which take 10 MiB of memory. */
const COMPILERS = {
  buildValidator: () => validatorCompiler as never,
  buildSerializer: () => () => JSON.stringify,
};

export function createServer(
  logger: FastifyBaseLogger,
  { maxConnections, trustProxy, checkEveryMs = CHECK_EVERY_MS, ...options }: CreateOptions,
): HttpServer {
  const { findCachedResponse, describeRequest = () => undefined } = options;
  // Cached responses are not logged, so that at level debug every request goes to its route.
  const withCache = (handler: RequestListener) =>
    findCachedResponse && logger.level !== 'debug' ? sendCachedFirst(findCachedResponse, handler) : handler;
  const app = Fastify({
    loggerInstance: logger,
    logController: new LogController({ disableRequestLogging: true }),
    childLoggerFactory: reuseLogger,
    genReqId: getRequestId,
    requestIdHeader: false,
    trustProxy: trustProxy ? [...trustProxy] : false,
    bodyLimit: MAX_JSON_BYTES,
    exposeHeadRoutes: true,
    forceCloseConnections: 'idle',
    return503OnClosing: false,
    routerOptions: { maxParamLength: MAX_HEADER_BYTES },
    schemaController: { compilersFactory: COMPILERS },
    serverFactory: (handler) =>
      createHttpServer(httpOptions(checkEveryMs), handleSequentially(withCache(handler))),
    frameworkErrors: (error, request, reply) =>
      sendError(error, request as FastifyRequest, reply as FastifyReply),
    clientErrorHandler: sendMalformedError,
  });
  openScopes(app, describeRequest);
  decorateRequests(app);
  app.setErrorHandler(sendError);
  app.setNotFoundHandler((request, reply) => sendError(notFound('No such route'), request, reply));
  app.addHook('onRequest', (request, reply, done) => {
    reply.headers(headersOf(request));
    done();
  });
  app.addHook('onResponse', (request, reply, done) => {
    logResponse(request, reply);
    done();
  });
  acceptJsonBodies(app);
  closeSlowBodies(app.server, checkEveryMs);
  closeStalledWrites(app.server, checkEveryMs);
  limitConnections(app.server, { maxConnections, logger });
  return app;
}

function decorateRequests(app: HttpServer): void {
  app.decorateRequest('rawBody', null);
  app.decorateRequest('identity', null);
  app.decorateRequest('isRoutine', false);
}

const httpOptions = (checkEveryMs: number): ServerOptions => ({
  maxHeaderSize: MAX_HEADER_BYTES,
  requireHostHeader: false,
  headersTimeout: HEADERS_TIMEOUT_MS,
  connectionsCheckingInterval: checkEveryMs,
  requestTimeout: 0,
  keepAliveTimeout: KEEP_ALIVE_MS,
});

/** A child logger per request is slower than adding the request id to single lines. */
const reuseLogger = (logger: FastifyBaseLogger) => logger;

/** Default headers; cacheable responses override `cache-control`. */
const headersOf = ({ id }: FastifyRequest) => ({
  'x-request-id': id,
  'x-content-type-options': 'nosniff',
  'cache-control': 'private, no-cache',
});

function sendError(thrown: unknown, request: FastifyRequest, reply: FastifyReply): void {
  const error = toServiceError(thrown as FastifyError, request.routeOptions.bodyLimit);
  if (error.code === 'INTERNAL_ERROR')
    request.log.error({ request_id: request.id, err: thrown }, 'request failed');
  if (error.code === 'UNAVAILABLE' && error.details?.['reason'] !== 'rate_limited')
    request.log.warn({ request_id: request.id, ...whyUnavailable(error, thrown) }, 'request unavailable');
  const wait = error.retryAfterSeconds ?? RETRY_AFTER[error.code];
  if (wait) reply.header('retry-after', wait);
  if (error.challenge) reply.header('www-authenticate', error.challenge);
  reply.code(statusOf(error.code));
  drainRefusedBody(request, reply);
  reply
    .headers(headersOf(request))
    .headers(error.headers)
    .type('application/json; charset=utf-8')
    .serializer(JSON.stringify)
    .send(failure(request.id, error));
}

/** A refusal under load has no cause: its message says everything, and stacks would fill the log. */
const whyUnavailable = (error: ServiceError, thrown: unknown): object =>
  error === thrown && error.cause === undefined
    ? { refusal: error.message, reason: error.details?.reason ?? null }
    : { err: error.cause ?? thrown };

/** Handles HTTP that could not be parsed, and headers that are too large or too slow. */
function sendMalformedError(error: Error & { code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy();
  closeSocketWith(socket, MALFORMED[error.code ?? ''] ?? badRequest('The request is not valid HTTP'));
}

const MALFORMED: Readonly<Record<string, ServiceError>> = {
  HPE_HEADER_OVERFLOW: badRequest('The head of the request is too large', { limit: MAX_HEADER_BYTES }),
  ERR_HTTP_REQUEST_TIMEOUT: badRequest('The head of the request arrived too slowly', {
    reason: 'request_too_slow',
    window_s: HEADERS_TIMEOUT_MS / 1000,
  }),
};

/**
 * Logs the route's pattern, never the URL, which may contain a token. Successful reads, and reports of the
 * service's own encoder, are logged at level debug.
 */
function logResponse(request: FastifyRequest, reply: FastifyReply): void {
  const { id, method, isRoutine } = request;
  const isRead = method === 'GET' || method === 'HEAD';
  const level = reply.statusCode < 400 && (isRead || isRoutine) ? 'debug' : 'info';
  if (level === 'debug' && request.log.level !== level) return;
  const line = {
    request_id: id,
    method,
    route: request.routeOptions.url ?? null,
    status: reply.statusCode,
    ms: Math.round(reply.elapsedTime * 10) / 10,
  };
  request.log[level](line, 'request completed');
}
