// Hangs routes into the server: guard, validation, call, envelope.
import { createHash } from 'node:crypto';
import { type KnownValues, narrow } from '@mediary/contract/narrow';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { badRequest } from '../errors.ts';
import type { RunOnce } from '../idempotency.ts';
import { describeJson, describeRaw } from './describe-route.ts';
import { success } from './envelope.ts';
import { matchesEtag } from './etag.ts';
import { acceptBytes, acceptStream } from './raw-body.ts';
import { type Limiter, limitOwner } from './rate-limit.ts';
import type { Input, JsonRoute, RawRoute, Route } from './route.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** What the route's guard found out before the body was read. */
    identity: unknown;
    /** The bytes of a JSON body as they came; null without a body. */
    rawBody: Buffer | null;
  }
}

export type MountOptions = {
  readonly tag: string;
  readonly once?: RunOnce;
  readonly ownerLimiter?: Limiter | undefined;
  /** Values of named strings that only the running service knows. */
  readonly known?: KnownValues;
};

export function mount(app: FastifyInstance, mounting: MountOptions, routes: readonly Route[]): void {
  for (const route of routes) {
    if (route.kind === 'json') mountJson(app, mounting, narrowRoute(route, mounting.known ?? {}));
    else mountRaw(app, mounting.tag, route);
  }
}

const narrowRoute = ({ query, body, answer, ...route }: JsonRoute, known: KnownValues): JsonRoute => ({
  ...route,
  query: query && narrow(query, known),
  body: body && narrow(body, known),
  answer: narrow(answer, known),
});

function mountJson(app: FastifyInstance, { tag, once, ownerLimiter }: MountOptions, route: JsonRoute): void {
  const { guard, handle, etag, message } = route;
  const isRepeatable = once && guard.callerName && route.method === 'POST';
  app.route({
    method: route.method,
    url: route.url,
    schema: describeJson(tag, route),
    config: configOf(route),
    onRequest: (request, _reply, done) => done(identifyOnce(guard, request)),
    handler: async (request, reply) => {
      const owner = ownerLimiter && guard.ownerOf?.(request.identity, request);
      if (owner !== undefined) await limitOwner(ownerLimiter, owner, reply);
      const key = isRepeatable ? keyOf(request) : undefined;
      if (once && key !== undefined)
        return success(request.id, message, await answerOnce(once, { route, key }, { request, reply }));
      const input = await admitted(guard, request);
      if (etag && isKnown(request, reply, etag(input))) return reply.code(304).send();
      return success(request.id, message, await handle(input));
    },
  });
}

async function admitted(
  guard: JsonRoute['guard'],
  request: FastifyRequest,
  madeId?: string,
): Promise<Input & object> {
  const input: Input = {
    params: request.params as Input['params'],
    query: request.query,
    body: request.body ?? {},
    headers: request.headers,
    madeId,
  };
  return { ...input, ...((await guard.admit(request.identity, input)) as object) };
}

const configOf = ({ rateClass }: Route) => (rateClass ? { rateClass } : {});

type Exchange = { readonly request: FastifyRequest; readonly reply: FastifyReply };

async function answerOnce(
  once: RunOnce,
  { route: { guard, handle }, key }: { route: JsonRoute; key: string },
  { request, reply }: Exchange,
): Promise<unknown> {
  // The bytes, not the value: to render deeply nested JSON again overflows the stack.
  const fingerprint = createHash('sha256')
    .update(`${request.method} ${request.url}\n`)
    .update(request.rawBody ?? '{}')
    .digest('hex');
  const caller = guard.callerName?.(request.identity) ?? '';
  const { data, isReplay } = await once({ caller, key, fingerprint }, async (madeId) =>
    handle(await admitted(guard, request, madeId)),
  );
  if (isReplay) reply.header('idempotency-replayed', 'true');
  return data;
}

const KEY = /^[\x21-\x7e]{1,255}$/;

function keyOf({ headers }: FastifyRequest): string | undefined {
  const key = headers['idempotency-key'];
  if (key === undefined) return undefined;
  if (typeof key !== 'string' || !KEY.test(key))
    throw badRequest('Idempotency-Key must be 1 to 255 visible ASCII characters', {
      field: 'Idempotency-Key',
      limit: 255,
    });
  return key;
}

/** Tells the answer's ETag, and whether the caller has that answer already. */
function isKnown({ headers }: FastifyRequest, reply: FastifyReply, etag: string): boolean {
  reply.header('etag', etag);
  return matchesEtag(headers['if-none-match'], etag);
}

/** Answers what went wrong instead of throwing: hooks that call back are spared a promise for each request. */
function identifyOnce(guard: JsonRoute['guard'], request: FastifyRequest): Error | undefined {
  try {
    request.identity = guard.identify(request);
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
    scope.route({
      method,
      url,
      schema: describeRaw(tag, route),
      config: configOf(route),
      handler: handle,
      ...(typeof body === 'object' && { bodyLimit: body.maxBytes }),
    });
  });
}
