// Handles requests that the HTTP library would answer by itself, without the envelope, or too early (contract A2, B2).
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { badRequest, notFound, type ServiceError } from '../errors.ts';
import { closeSocketWith } from './close-socket.ts';
import { headerValues } from './headers.ts';

/** Call it after the hooks that set headers: it runs before any guard and before a body is read. */
export function guardProtocol(app: FastifyInstance): void {
  app.server.on('checkExpectation', (request, response) => app.server.emit('request', request, response));
  app.server.on('connect', (_request, socket) => {
    socket.on('error', () => {
      /* the client is gone, and nobody waits for the response */
    });
    closeSocketWith(socket, notFound('No such route'));
  });
  app.addHook('onRequest', (request, _reply, done) => {
    makeContentTypeReadable(request);
    done(findViolation(request));
  });
}

function findViolation({ raw, is404, params }: FastifyRequest): ServiceError | undefined {
  const hosts = headerValues(raw, 'host').length;
  if (hosts !== 1 && (hosts > 1 || raw.httpVersion !== '1.0'))
    return badRequest('The request must name one Host', { field: 'Host' });
  // A router takes `/media/` for `/media/{id}` with an empty id: it is another path.
  if (is404 || Object.values(params as object).includes('')) return notFound('No such route');
  return undefined;
}

const MEDIA_TYPE = /^\s*[\w!#$%&'*+.^`|~-]+\/[\w!#$%&'*+.^`|~-]+\s*(?:;|$)/;

/** The library refuses a Content-Type that it cannot parse before our parsers see it, also on routes that accept any. */
function makeContentTypeReadable({ raw: { headers } }: FastifyRequest): void {
  const given = headers['content-type'];
  if (given !== undefined && !MEDIA_TYPE.test(given)) headers['content-type'] = 'application/octet-stream';
}
