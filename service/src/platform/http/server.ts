// The HTTP server: every door through which an answer can leave is closed here with the envelope.
import { randomUUID } from 'node:crypto';
import { createServer as createHttpServer, type IncomingMessage, type ServerOptions } from 'node:http';
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
import { badRequest, notFound, type ServiceError } from '../errors.ts';
import type { TrustedProxies } from '../rate-setting.ts';
import { failure, RETRY_AFTER, toServiceError } from './envelope.ts';
import { closeSlowBodies } from './body-timeout.ts';
import { closeSocketWith } from './close-socket.ts';
import { limitConnections } from './connection-limit.ts';
import { handleInTurn } from './pipelining.ts';
import { acceptJsonBodies } from './raw-body.ts';
import { validatorCompiler } from './validation.ts';
import { closeStalledWrites } from './write-timeout.ts';

/** Largest JSON body, and the largest head of a request, in bytes. */
export const MAX_JSON_BYTES = 128 * 1024;
const MAX_HEAD = 32 * 1024;
/** A head is a few hundred bytes. The library checks every 30 s by default, which would be added to the time allowed. */
const HEAD_WITHIN_MS = 10_000;
const CHECK_EVERY_MS = 1000;

export type HttpServer = FastifyInstance;

export type ServerLimits = {
  readonly maxConnections: number;
  /** Which proxies may name the client in `X-Forwarded-For`. */
  readonly trustProxy?: TrustedProxies;
  /** How often connections are checked against their timeouts. */
  readonly checkEveryMs?: number;
};

export function createServer(
  logger: FastifyBaseLogger,
  { maxConnections, trustProxy, checkEveryMs = CHECK_EVERY_MS }: ServerLimits,
): HttpServer {
  const app = Fastify({
    loggerInstance: logger,
    logController: new LogController({ disableRequestLogging: true }),
    childLoggerFactory: sameLogger,
    genReqId: requestIdOf,
    requestIdHeader: false,
    trustProxy: trustProxy ? [...trustProxy] : false,
    bodyLimit: MAX_JSON_BYTES,
    exposeHeadRoutes: true,
    forceCloseConnections: 'idle',
    return503OnClosing: false,
    routerOptions: { maxParamLength: MAX_HEAD },
    serverFactory: (handler) => createHttpServer(httpOptions(checkEveryMs), handleInTurn(handler)),
    frameworkErrors: (error, request, reply) =>
      answerError(error, request as FastifyRequest, reply as FastifyReply),
    clientErrorHandler: answerMalformed,
  });
  app.decorateRequest('rawBody', null);
  app.decorateRequest('identity', null);
  app.setValidatorCompiler(validatorCompiler as never);
  app.setSerializerCompiler(() => JSON.stringify);
  app.setErrorHandler(answerError);
  app.setNotFoundHandler((request, reply) => answerError(notFound('No such route'), request, reply));
  app.addHook('onRequest', (request, reply, done) => {
    reply.headers(headersOf(request));
    done();
  });
  app.addHook('onResponse', (request, reply, done) => {
    logAnswer(request, reply);
    done();
  });
  acceptJsonBodies(app);
  closeSlowBodies(app.server, checkEveryMs);
  closeStalledWrites(app.server, checkEveryMs);
  limitConnections(app.server, { maxConnections, logger });
  return app;
}

const httpOptions = (checkEveryMs: number): ServerOptions => ({
  maxHeaderSize: MAX_HEAD,
  requireHostHeader: false,
  headersTimeout: HEAD_WITHIN_MS,
  connectionsCheckingInterval: checkEveryMs,
  requestTimeout: 0,
  keepAliveTimeout: 72_000,
});

/** A child logger for each request costs more than the request id in the few lines that name it. */
const sameLogger = (logger: FastifyBaseLogger) => logger;

/** What may be kept by others, or for longer, says so itself. */
const headersOf = ({ id }: FastifyRequest) => ({
  'x-request-id': id,
  'x-content-type-options': 'nosniff',
  'cache-control': 'private, no-cache',
});

const REQUEST_ID = /^[A-Za-z0-9._-]{1,128}$/;

/** Adopts a well-formed `X-Request-Id`, else makes one. */
function requestIdOf({ headers }: IncomingMessage): string {
  const given = headers['x-request-id'];
  return typeof given === 'string' && REQUEST_ID.test(given) ? given : randomUUID();
}

function answerError(thrown: unknown, request: FastifyRequest, reply: FastifyReply): void {
  const error = toServiceError(thrown as FastifyError, request.routeOptions.bodyLimit);
  if (error.code === 'INTERNAL_ERROR')
    request.log.error({ request_id: request.id, err: thrown }, 'a request failed');
  if (error.code === 'UNAVAILABLE' && error.details?.['reason'] !== 'rate_limited')
    request.log.warn(
      { request_id: request.id, err: error.cause ?? thrown },
      'a request could not be served now',
    );
  const wait = error.retryAfterSeconds ?? RETRY_AFTER[error.code];
  if (wait) reply.header('retry-after', wait);
  if (error.challenge) reply.header('www-authenticate', error.challenge);
  reply
    .headers(headersOf(request))
    .headers(error.headers)
    .code(statusOf(error.code))
    .type('application/json; charset=utf-8')
    .serializer(JSON.stringify)
    .send(failure(request.id, error));
}

/** HTTP that could not be parsed, a head that is too large or too slow. */
function answerMalformed(error: Error & { code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy();
  closeSocketWith(socket, MALFORMED[error.code ?? ''] ?? badRequest('The request is not valid HTTP'));
}

const MALFORMED: Readonly<Record<string, ServiceError>> = {
  HPE_HEADER_OVERFLOW: badRequest('The head of the request is too large', { max_bytes: MAX_HEAD }),
  ERR_HTTP_REQUEST_TIMEOUT: badRequest('The head of the request came too slowly', {
    reason: 'too_slow',
    seconds: HEAD_WITHIN_MS / 1000,
  }),
};

/** One line for each answer, of reads that succeed only at level debug: the route's pattern, never the URL, which may carry a token. */
function logAnswer(request: FastifyRequest, reply: FastifyReply): void {
  const { id, method } = request;
  const level = reply.statusCode < 400 && (method === 'GET' || method === 'HEAD') ? 'debug' : 'info';
  if (level === 'debug' && request.log.level !== level) return;
  const line = {
    request_id: id,
    method,
    route: request.routeOptions.url ?? null,
    status: reply.statusCode,
    ms: Math.round(reply.elapsedTime * 10) / 10,
  };
  request.log[level](line, 'answered');
}
