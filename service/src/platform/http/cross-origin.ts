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
  'Ignored-Members',
  'Tus-Extension',
  'Tus-Max-Size',
  'Tus-Resumable',
  'Tus-Version',
  'Upload-Concat',
  'Upload-Defer-Length',
  'Upload-Expires',
  'Upload-Length',
  'Upload-Offset',
].join(', ');
/** Fewer names than above, because players request many files. */
const PLAYBACK_HEADERS = {
  // A path may contain a token, which other sites must not see.
  'referrer-policy': 'no-referrer',
  'access-control-allow-origin': '*',
  'access-control-expose-headers': [
    'X-Request-Id',
    'ETag',
    'Content-Length',
    'Content-Range',
    'Accept-Ranges',
    'Content-Disposition',
    'Retry-After',
    'RateLimit',
    'RateLimit-Policy',
    'X-Image-Substitute',
    'Ignored-Members',
  ].join(', '),
};
const DAY = 86_400;
const PLAYBACK = /^\/api\/v1\/playback\//;

declare module 'fastify' {
  interface FastifyContextConfig {
    /** False for playback: the plugin would vary its cacheable responses by the origin of the page. */
    cors?: false;
  }
}

/** `origins`: scheme and host each, or `*`. Headers are set first, so that error responses have them too. */
export async function allowOrigins(app: FastifyInstance, origins: readonly string[]): Promise<void> {
  const listed = origins.includes('*') ? '*' : [...origins];
  app.addHook('onRequest', (request, reply, done) => {
    if (request.routeOptions.config.cors === false) reply.headers(PLAYBACK_HEADERS);
    done();
  });
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
 * Requests without Origin do not come from a web page. Preflights and unknown paths of playback arrive here.
 */
const originsFor = ({ url, headers }: FastifyRequest, listed: string[] | '*'): string[] | '*' | false =>
  PLAYBACK.test(url) ? '*' : headers.origin !== undefined && listed;
