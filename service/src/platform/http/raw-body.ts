// Body parsers: JSON objects, raw bytes up to a limit, or a stream that the handler reads.
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { badRequest } from './errors.ts';
import { parseJson } from '../values/strict-json.ts';
import { allowLongBody } from './limits/slow-clients.ts';

/** Accepts JSON objects. An empty body counts as `{}` with any Content-Type (contract B2). */
export function acceptJsonBodies(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', { parseAs: 'buffer' }, async (request: FastifyRequest, body: Buffer) => {
    if (body.length === 0) return {};
    request.rawBody = body;
    if (!isJson(request.headers['content-type']))
      throw badRequest('Content-Type must be application/json', { field: 'Content-Type' });
    return jsonObject(body);
  });
}

const isJson = (contentType = '') => /^application\/(?:[a-z0-9.+-]+\+)?json\s*(?:;|$)/i.test(contentType);

function jsonObject(body: Buffer): object {
  let value: unknown;
  try {
    value = parseJson(body);
  } catch (cause) {
    throw Object.assign(badRequest('The body is not valid JSON', { field: 'body' }), { cause });
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw badRequest('The body must be a JSON object', { field: 'body' });
  return value;
}

/** Accepts raw bytes with any Content-Type. */
export function acceptBytes(app: FastifyInstance, maxBytes: number): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(
    '*',
    { parseAs: 'buffer', bodyLimit: maxBytes },
    async (_request: FastifyRequest, body: Buffer) => body,
  );
}

/** Leaves the body unread; the handler reads `request.raw`. */
export function acceptStream(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', (request, _payload, done) => {
    allowLongBody(request.raw);
    done(null);
  });
}
