// Which pages of other origins may call: playback is open to all, the rest to those that the operator lists (B5, B9).
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
];
const DAY = 86_400;
const PLAYBACK = /^\/api\/v1\/playback\//;

/** `origins`: scheme and host each, or `*`. Headers are set before anything can fail, so that errors carry them too. */
export async function allowOrigins(app: FastifyInstance, origins: readonly string[]): Promise<void> {
  const listed = origins.includes('*') ? '*' : [...origins];
  await app.register(cors, {
    delegator: (request: FastifyRequest, done) =>
      done(null, {
        origin: originsFor(request, listed),
        methods: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'],
        exposedHeaders: EXPOSED,
        maxAge: DAY,
        // An OPTIONS that asks for nothing is no preflight but an unknown method.
        preflight:
          request.headers.origin !== undefined &&
          request.headers['access-control-request-method'] !== undefined,
      }),
  });
}

/** Who names no origin is no page, and is spared the headers; what may be cached for others has them always. */
const originsFor = ({ url, headers }: FastifyRequest, listed: string[] | '*'): string[] | '*' | false =>
  PLAYBACK.test(url) ? '*' : headers.origin !== undefined && listed;
