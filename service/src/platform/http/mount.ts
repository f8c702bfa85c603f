// Hangs routes into the server: guard, validation, call, envelope; and their description into the OpenAPI document.
import type { FastifyInstance, FastifyRequest, RouteShorthandOptions } from 'fastify';
import { type TSchema, Type } from 'typebox';
import { success } from './envelope.ts';
import { acceptBytes, acceptStream } from './raw-body.ts';
import type { Input, JsonRoute, RawRoute, Route } from './route.ts';

const identities = new WeakMap<FastifyRequest, unknown>();

export function mount(app: FastifyInstance, tag: string, routes: readonly Route[]): void {
  for (const route of routes) {
    if (route.kind === 'json') mountJson(app, tag, route);
    else mountRaw(app, tag, route);
  }
}

function mountJson(app: FastifyInstance, tag: string, route: JsonRoute): void {
  const { guard, handle, message } = route;
  app.route({
    method: route.method, url: route.url, schema: describeJson(tag, route),
    onRequest: (request, _reply, done) => done(identifyOnce(guard, request)),
    handler: async (request) => {
      const input = { params: request.params, query: request.query, body: request.body ?? {} } as Input;
      const extra = await guard.admit(identities.get(request), input);
      return success(request.id, message, await handle({ ...input, ...(extra as object) }));
    },
  });
}

/** Answers what went wrong instead of throwing: hooks that call back are spared a promise for each request. */
function identifyOnce(guard: JsonRoute['guard'], request: FastifyRequest): Error | undefined {
  try {
    identities.set(request, guard.identify(request));
    return undefined;
  } catch (error) {
    return error as Error;
  }
}

function mountRaw(app: FastifyInstance, tag: string, route: RawRoute): void {
  const { method, url, handle, body } = route;
  app.register(async (scope) => {
    if (body === 'stream') acceptStream(scope);
    else if (body !== 'none') acceptBytes(scope, body.maxBytes);
    scope.route({ method, url, schema: describeRaw(tag, route), handler: handle });
  });
}

type Described = NonNullable<RouteShorthandOptions['schema']> & Record<string, unknown>;

function describeJson(tag: string, { guard, summary, query, body, answer, errors, url }: JsonRoute): Described {
  const statuses = [...new Set([...(guard.security.length > 0 ? [401] : []), ...(query || body ? [400] : []), ...errors, 500, 503])];
  return {
    tags: [tag], summary, ...pathOf(url), ...(query && { querystring: query }), ...(body && { body }),
    ...(guard.security.length > 0 && { security: guard.security.map((name) => ({ [name]: [] })) }),
    response: { 200: envelopeOf(answer), ...Object.fromEntries(statuses.sort().map((status) => [status, ERROR])) },
  };
}

function describeRaw(tag: string, { summary, query, answers, url }: RawRoute): Described {
  const response = Object.fromEntries(Object.entries(answers).map(([status, description]) => [status, { description, type: 'null' }]));
  return { tags: [tag], summary, ...pathOf(url), ...(query && { querystring: query }), response };
}

/** Path parameters are text; whether they name anything is the guard's question (404), not validation's (400). */
function pathOf(url: string): { params?: TSchema } {
  const names = [...url.matchAll(/:(\w+)/g)].map(([, name]) => name as string);
  return names.length > 0 ? { params: Type.Object(Object.fromEntries(names.map((name) => [name, Type.String()]))) } : {};
}

const envelopeOf = (data: TSchema): TSchema => Type.Object({
  success: Type.Literal(true), message: Type.String(), code: Type.Literal(200), data, request_id: Type.String(), timestamp: Type.String({ format: 'date-time' }),
}, { description: 'Success' });

const ERROR = Type.Object({
  success: Type.Literal(false), message: Type.String(), code: Type.Integer(),
  error: Type.Object({ error_code: Type.String(), details: Type.Union([Type.Object({}, { additionalProperties: true }), Type.Null()]) }),
  request_id: Type.String(), timestamp: Type.String({ format: 'date-time' }),
}, { description: 'Refusal' });
