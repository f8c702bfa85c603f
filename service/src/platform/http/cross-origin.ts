// Which pages of other origins may call: playback is open to all, the rest to those that the operator lists (B5, B9).
import cors from '@fastify/cors';
import type { FastifyInstance, FastifyRequest } from 'fastify';

const EXPOSED = ['X-Request-Id', 'ETag', 'Location', 'Content-Length', 'Content-Range', 'Accept-Ranges', 'Content-Disposition', 'Retry-After'];
const DAY = 86_400;
const PLAYBACK = /^\/api\/v1\/playback\//;

/** `origins`: scheme and host each, or `*`. Headers are set before anything can fail, so that errors carry them too. */
export async function allowOrigins(app: FastifyInstance, origins: readonly string[]): Promise<void> {
  const listed = origins.includes('*') ? '*' : [...origins];
  await app.register(cors, {
    delegator: (request: FastifyRequest, done) => done(null, {
      origin: PLAYBACK.test(request.url) ? '*' : listed, methods: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'], exposedHeaders: EXPOSED, maxAge: DAY,
    }),
  });
}
