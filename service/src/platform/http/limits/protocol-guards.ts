// Handles protocol errors to which Node or Fastify would respond without the envelope (contract A2, B2).
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { badRequest, notFound, type ServiceError } from '../errors.ts';
import { describeMissingRoutes } from '../allowed-methods.ts';
import { closeSocketWith } from './connections.ts';
import { headerValues } from '../headers.ts';

/**
 * Register it before the routes, and after the hooks that set headers. It runs before authentication and
 * before a body is read.
 */
export function guardProtocol(app: FastifyInstance): void {
  const describeMissingRoute = describeMissingRoutes(app);
  app.server.on('checkExpectation', (request, response) => app.server.emit('request', request, response));
  app.server.on('connect', (_request, socket) => {
    socket.on('error', () => {
      /* the client has disconnected */
    });
    closeSocketWith(socket, notFound('No such route'));
  });
  app.addHook('onRequest', (request, _reply, done) => {
    replaceMalformedContentType(request);
    done(findViolation(request) ?? (request.is404 ? describeMissingRoute(request) : undefined));
  });
}

function findViolation({ raw, params }: FastifyRequest): ServiceError | undefined {
  const hosts = headerValues(raw, 'host').length;
  if (hosts !== 1 && (hosts > 1 || raw.httpVersion !== '1.0'))
    return badRequest('The request must name one Host', { field: 'Host' });
  // The router matches a star to `/`.
  if (raw.url === '*') return notFound('No such route');
  // The router matches `/media/` to `/media/{id}` with an empty id.
  if (Object.values(params as object).includes('')) return notFound('No such route');
  return undefined;
}

const MEDIA_TYPE = /^\s*[\w!#$%&'*+.^`|~-]+\/[\w!#$%&'*+.^`|~-]+\s*(?:;|$)/;

/** Fastify rejects a malformed Content-Type before its parsers run, also on routes that accept any type. */
function replaceMalformedContentType({ raw: { headers } }: FastifyRequest): void {
  const given = headers['content-type'];
  if (given !== undefined && !MEDIA_TYPE.test(given)) headers['content-type'] = 'application/octet-stream';
}
