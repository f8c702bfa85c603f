// CORS: playback allows every origin, other routes allow the origins that the operator configures (contract
// B5, B9).
import cors from '@fastify/cors';
import type { FastifyInstance, FastifyRequest } from 'fastify';

const EXPOSED = [
  'X-Request-Id',
  'ETag',
  'Location',
  'Content-Length',
  'Content-Range',
  'Accept-Ranges',
  'Content-Disposition',
  'Retry-After',
  'RateLimit',
  'RateLimit-Policy',
  'X-Image-Substitute',
  'Tus-Extension',
  'Tus-Max-Size',
  'Tus-Resumable',
  'Tus-Version',
  'Upload-Defer-Length',
  'Upload-Expires',
  'Upload-Length',
  'Upload-Offset',
];
const DAY = 86_400;
const PLAYBACK = /^\/api\/v1\/playback\//;

/** `origins`: scheme and host each, or `*`. Headers are set first, so that error responses have them too. */
export async function allowOrigins(app: FastifyInstance, origins: readonly string[]): Promise<void> {
  const listed = origins.includes('*') ? '*' : [...origins];
  await app.register(cors, {
    delegator: (request: FastifyRequest, done) =>
      done(null, {
        origin: originsFor(request, listed),
        methods: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'],
        exposedHeaders: EXPOSED,
        maxAge: DAY,
        // OPTIONS without these headers is not a preflight request.
        preflight:
          request.headers.origin !== undefined &&
          request.headers['access-control-request-method'] !== undefined,
      }),
  });
}

/**
 * Requests without Origin do not come from a web page. Cacheable playback responses always need the headers.
 */
const originsFor = ({ url, headers }: FastifyRequest, listed: string[] | '*'): string[] | '*' | false =>
  PLAYBACK.test(url) ? '*' : headers.origin !== undefined && listed;
