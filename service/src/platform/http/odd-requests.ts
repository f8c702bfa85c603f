// Requests that the HTTP library would answer by itself, without the envelope, or too early: they are taken in hand here (contract A2, B2).
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { badRequest, notFound, type ServiceError } from '../errors.ts';
import { hangUp } from './hang-up.ts';
import { headerValues } from './headers.ts';

/** After what sets headers, before any guard and before a body is read. */
export function refuseOddRequests(app: FastifyInstance): void {
  app.server.on('checkExpectation', (request, response) => app.server.emit('request', request, response));
  app.server.on('connect', (_request, socket) => {
    socket.on('error', () => {
      /* whoever asked is gone: nobody waits for the answer */
    });
    hangUp(socket, notFound('No such route'));
  });
  app.addHook('onRequest', (request, _reply, done) => {
    makeContentTypeReadable(request);
    done(oddityOf(request));
  });
}

function oddityOf({ raw, is404, params }: FastifyRequest): ServiceError | undefined {
  const hosts = headerValues(raw, 'host').length;
  if (hosts !== 1 && (hosts > 1 || raw.httpVersion !== '1.0'))
    return badRequest('The request must name one Host', { field: 'Host' });
  // A router takes `/media/` for `/media/{id}` with an empty id: it is another path.
  if (is404 || Object.values(params as object).includes('')) return notFound('No such route');
  return undefined;
}

const MEDIA_TYPE = /^\s*[\w!#$%&'*+.^`|~-]+\/[\w!#$%&'*+.^`|~-]+\s*(?:;|$)/;

/** The library refuses what it cannot parse before our parsers see it, on routes too that take any Content-Type. */
function makeContentTypeReadable({ raw: { headers } }: FastifyRequest): void {
  const given = headers['content-type'];
  if (given !== undefined && !MEDIA_TYPE.test(given)) headers['content-type'] = 'application/octet-stream';
}
