// Mounts routes on the server: guard, validation, handler, envelope.
import { createHash } from 'node:crypto';
import type { OutgoingHttpHeaders } from 'node:http';
import { addKnownValues, type KnownValues } from '@mediary/contract/known-values';
import type { ServiceScope } from '@mediary/contract/enums';
import { type Operation, scopeOf } from '@mediary/contract/operation';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { readIdempotencyKey, type RunOnce } from './idempotency.ts';
import { success } from './envelope.ts';
import { matchesEtag } from './headers.ts';
import { acceptBytes, acceptStream } from './raw-body.ts';
import { type Limiter, limitOwner } from './limits/rate-limit.ts';
import {
  type BytesRoute,
  type Input,
  type JsonRoute,
  type Route,
  type StreamRoute,
  toInput,
} from './route.ts';
import { findIgnoredMembers, type RequestSchemas } from './unknown-members.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** What a named service key must be allowed to do. */
    scope?: ServiceScope;
    /** Whether the holder of an upload token may call the route. */
    acceptsUploadTokens?: true;
    /** Whether the query may have an event ticket instead of credentials. */
    acceptsEventTickets?: true;
  }
  interface FastifyRequest {
    /** Result of the guard's `identify`, which runs before the body is read. */
    identity: unknown;
    /** The raw bytes of a JSON body; null without a body. */
    rawBody: Buffer | null;
    /** A request of the service itself, which is logged at level debug. */
    isRoutine: boolean;
  }
}

type MountOptions = {
  readonly once: RunOnce;
  readonly ownerLimiter: Limiter | undefined;
  /** Allowed values of named strings, such as the registered providers. */
  readonly known: KnownValues;
};

export function mount(app: FastifyInstance, options: MountOptions, routes: readonly Route[]): void {
  for (const route of routes) {
    if (route.kind === 'json') mountJson(app, options, route);
    else if (route.kind === 'bytes') mountBytes(app, options, route);
    else mountStream(app, options, route);
  }
}

function mountJson(
  app: FastifyInstance,
  { once, ownerLimiter, known }: MountOptions,
  route: JsonRoute,
): void {
  const { operation, guard, handle, retryAfter, setCookie } = route;
  const { method, path, message, status = 200, query, body } = operation;
  const isRepeatable = guard.callerName && method === 'POST';
  app.route({
    method,
    url: toPattern(path),
    schema: {
      ...(query && { querystring: addKnownValues(query, known) }),
      ...(body && { body: addKnownValues(body, known) }),
    },
    config: configOf(operation),
    onRequest: (request, _reply, done) => identifyOnce(guard, request, done),
    handler: async (request, reply) => {
      const owner = ownerLimiter && guard.ownerOf?.(request.identity, request);
      if (owner !== undefined) await limitOwner(ownerLimiter, owner, reply);
      reportIgnored({ request, reply }, operation);
      const key = isRepeatable ? readIdempotencyKey(request.headers) : undefined;
      if (key !== undefined)
        return success(request.id, message, await handleOnce(once, { route, key }, { request, reply }));
      const input = await admitUnlessNotModified(route, { request, reply });
      if (!input) return reply.code(304).send();
      const data = await handle(input);
      const seconds = retryAfter?.(data);
      if (seconds !== undefined) reply.header('retry-after', seconds);
      const cookie = setCookie?.(input);
      if (cookie !== undefined) reply.header('set-cookie', cookie);
      return { ...success(request.id, message, data), code: reply.code(status).statusCode };
    },
  });
}

function reportIgnored({ request, reply }: RouteCall, schemas: RequestSchemas): void {
  const ignored = findIgnoredMembers(request, schemas);
  if (ignored !== undefined) reply.header('ignored-members', ignored);
}

/** `/media/{id}` → `/media/:id`. */
const toPattern = (path: string): string => path.replace(/\{(\w+)\}/g, ':$1');

async function admitRequest(
  guard: JsonRoute['guard'],
  request: FastifyRequest,
  resourceId?: string,
): Promise<Input & object> {
  const input = toInput(request, resourceId);
  return { ...input, ...((await guard.admit(request.identity, input)) as object) };
}

/** Undefined if the caller has the current version already. */
async function admitUnlessNotModified(
  { guard, etag, waitForChange }: JsonRoute,
  { request, reply }: RouteCall,
): Promise<(Input & object) | undefined> {
  const admit = () => admitRequest(guard, request);
  const input = await admit();
  if (!etag || !isNotModified(request, reply, etag(input))) return input;
  const hasChanged = async () => etag(await admit()) !== etag(input);
  if (!(await waitForChange?.(input, { hasChanged, signal: closeSignal(reply) }))) return undefined;
  const changed = await admit();
  return isNotModified(request, reply, etag(changed)) ? undefined : changed;
}

/** Aborted at once if the client disconnected while the guard ran: no event follows. */
function closeSignal({ raw }: FastifyReply): AbortSignal {
  const controller = new AbortController();
  if (raw.destroyed) controller.abort();
  else raw.once('close', () => controller.abort());
  return controller.signal;
}

const configOf = (operation: Operation) => ({
  operationId: operation.id,
  scope: scopeOf(operation),
  ...(operation.acceptsUploadTokens && { acceptsUploadTokens: true as const }),
  ...(operation.acceptsEventTickets && { acceptsEventTickets: true as const }),
  ...(operation.auth === 'playback' && { cors: false as const }),
  ...(operation.rateClass && { rateClass: operation.rateClass }),
});

type RouteCall = { readonly request: FastifyRequest; readonly reply: FastifyReply };

async function handleOnce(
  once: RunOnce,
  { route: { guard, handle, isFinal }, key }: { route: JsonRoute; key: string },
  { request, reply }: RouteCall,
): Promise<unknown> {
  // Hashes the bytes, because serializing deeply nested JSON again would overflow the stack.
  const fingerprint = createHash('sha256')
    .update(`${request.method} ${request.url}\n`)
    .update(request.rawBody ?? '{}')
    .digest('hex');
  const caller = guard.callerName?.(request.identity) ?? '';
  const work = async (resourceId: string) => handle(await admitRequest(guard, request, resourceId));
  const { data, isReplay } = await once({ caller, key, fingerprint }, work, isFinal);
  if (isReplay) reply.header('idempotency-replayed', 'true');
  return data;
}

/** Sets the `ETag` header; true when the caller already has this version. */
function isNotModified({ headers }: FastifyRequest, reply: FastifyReply, etag: string): boolean {
  reply.header('etag', etag);
  return matchesEtag(headers['if-none-match'], etag);
}

/** A callback hook saves one promise per request, where the guard returns none. */
function identifyOnce(
  guard: Pick<JsonRoute['guard'], 'identify'>,
  request: FastifyRequest,
  done: (error?: Error) => void,
): void {
  const admitAs = (identity: unknown): void => {
    request.identity = identity;
    done();
  };
  let identity: unknown;
  try {
    identity = guard.identify(request);
  } catch (error) {
    done(error as Error);
    return;
  }
  if (identity instanceof Promise) identity.then(admitAs, done);
  else admitAs(identity);
}

/** The response ends when the client disconnects or the service stops, so it is not Fastify's to send. */
function mountStream(app: FastifyInstance, { known }: MountOptions, route: StreamRoute): void {
  const { operation, guard, open } = route;
  app.route({
    method: operation.method,
    url: toPattern(operation.path),
    schema: { ...(operation.query && { querystring: addKnownValues(operation.query, known) }) },
    config: configOf(operation),
    onRequest: (request, _reply, done) => identifyOnce(guard, request, done),
    handler: async (request, reply) => {
      reportIgnored({ request, reply }, { query: operation.query });
      const input = await admitRequest(guard, request);
      if (request.method === 'HEAD') return reply.headers(EVENT_STREAM).send();
      await open(input, () => {
        reply.hijack();
        reply.raw.writeHead(200, { ...reply.getHeaders(), ...EVENT_STREAM } as OutgoingHttpHeaders);
        return reply.raw;
      });
      return reply;
    },
  });
}

/** nginx buffers responses unless they ask it not to. */
const EVENT_STREAM = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-store',
  'x-accel-buffering': 'no',
} as const;

function mountBytes(app: FastifyInstance, { ownerLimiter }: MountOptions, route: BytesRoute): void {
  const { operation, path, body = 'none', identify, ownerOf, handle } = route;
  app.register(async (scope) => {
    if (body === 'stream') acceptStream(scope);
    else if (body !== 'none') acceptBytes(scope, body.maxBytes);
    scope.route({
      method: operation.method,
      url: toPattern(path ?? operation.path),
      schema: { ...(operation.query && { querystring: operation.query }) },
      config: configOf(operation),
      ...(identify && { onRequest: (request, _reply, done) => identifyOnce({ identify }, request, done) }),
      handler: async (request: FastifyRequest, reply: FastifyReply) => {
        const owner = ownerLimiter && ownerOf?.(request.identity, request);
        if (owner !== undefined) await limitOwner(ownerLimiter, owner, reply);
        if (operation.query) reportIgnored({ request, reply }, { query: operation.query });
        return handle(request as never, reply);
      },
      ...(typeof body === 'object' && { bodyLimit: body.maxBytes }),
    });
  });
}
