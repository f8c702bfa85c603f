// A route: an operation of the contract, the guard that opens it, and the function that handles it.
import type { IncomingHttpHeaders } from 'node:http';
import type { Writable } from 'node:stream';
import type { BytesOperation, JsonOperation, Path } from '@mediary/contract/operation';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Static, TObject, TSchema } from 'typebox';

/** The parameters of a path template: `/media/{id}` has `id`, a wildcard is named `*`. */
type Params<P extends string> = P extends `${string}{${infer Name}}${infer Rest}`
  ? { readonly [K in Name]: string } & Params<Rest>
  : P extends `${string}*`
    ? { readonly '*': string }
    : object;

/** A validated request; path parameters are decoded. */
export type Input<Q = unknown, B = unknown, P = Readonly<Record<string, string>>> = {
  readonly params: P;
  readonly query: Q;
  readonly body: B;
  readonly headers: IncomingHttpHeaders;
  /** The id of the resource that a POST creates. Requests with the same Idempotency-Key get the same id. */
  readonly resourceId?: string | undefined;
};

/**
 * Authorizes the requests of a route in two steps: `identify` runs before the body is read (401), `admit`
 * after it was validated (400, 404, 403).
 */
export type Guard<Identity, Extra> = {
  readonly name: string;
  readonly identify: (request: FastifyRequest) => Identity | Promise<Identity>;
  /** The scope of the caller's Idempotency-Keys; absent where the header is ignored. */
  readonly callerName?: (identity: Identity) => string;
  /** The owner that the request names, for the rate limit; undefined if it names none. */
  readonly ownerOf?: (identity: Identity, input: Pick<Input, 'query' | 'body'>) => string | undefined;
  readonly admit: (identity: Identity, input: Input) => Extra | Promise<Extra>;
};

/** `hasChanged` runs the guard again; `signal` aborts when the client disconnects. */
export type LongPollContext = { readonly hasChanged: () => Promise<boolean>; readonly signal: AbortSignal };

type RouteOptions<I, D> = {
  /** The ETag of the response, in quotes; a request that names it gets 304. */
  readonly etag?: (input: I) => string;
  /** Runs before a 304: true if the ETag has changed in time. */
  readonly waitForChange?: (input: I, waiting: LongPollContext) => Promise<boolean>;
  /** `Retry-After` of a response that is not final yet, in seconds. */
  readonly retryAfter?: (data: D) => number | undefined;
  /** `Set-Cookie` of the response. */
  readonly setCookie?: (input: I) => string | undefined;
  /** False: the response is not stored, and the next request with its Idempotency-Key runs again. */
  readonly isFinal?: (data: D) => boolean;
};

/** A route whose response is the envelope. */
export type JsonRoute = {
  readonly kind: 'json';
  readonly operation: JsonOperation;
  readonly guard: Guard<unknown, unknown>;
  readonly etag: ((input: Input & object) => string) | undefined;
  readonly waitForChange: RouteOptions<Input & object, unknown>['waitForChange'] | undefined;
  readonly retryAfter: ((data: unknown) => number | undefined) | undefined;
  readonly setCookie: ((input: Input & object) => string | undefined) | undefined;
  readonly isFinal: ((data: unknown) => boolean) | undefined;
  readonly handle: (input: Input & object) => Promise<unknown>;
};

/** A request of bytes, with the parameters and the query that its operation declares. */
export type BytesRequest<Q = unknown, P = unknown> = FastifyRequest<{ Querystring: Q; Params: P }>;
export type BytesExchange<Q = unknown, P = unknown> = {
  readonly request: BytesRequest<Q, P>;
  readonly reply: FastifyReply;
};

type BytesHandling<Q, P, Template extends Path> = {
  /** How the handler gets the body: `none` (the default), as a stream, or as bytes up to a limit. */
  readonly body?: 'none' | 'stream' | { readonly maxBytes: number };
  /** Path template, where one route serves several operations. */
  readonly path?: Template;
  /** Runs before the query is validated and the body is read; its result is `request.identity`. */
  readonly identify?: (request: FastifyRequest) => unknown;
  /** Returns the body, or data of the envelope by `success`. */
  readonly handle: (request: BytesRequest<Q, P>, reply: FastifyReply) => Promise<unknown>;
};

/** A route that responds with bytes, a redirect, or an envelope that it builds itself. */
export type BytesRoute = {
  readonly kind: 'bytes';
  readonly operation: BytesOperation;
  /** The guard's function, for the rate limit of owners. */
  readonly ownerOf?: Guard<unknown, unknown>['ownerOf'];
} & BytesHandling<unknown, unknown, Path>;

/** A route whose response is a stream of events; errors before its start are the envelope. */
export type StreamRoute = {
  readonly kind: 'stream';
  readonly operation: BytesOperation;
  readonly guard: Guard<unknown, unknown>;
  /** Calls `connect`, which sends the headers, when the stream can start. */
  readonly open: (input: Input & object, connect: () => Writable) => Promise<void>;
};

export type Route = JsonRoute | BytesRoute | StreamRoute;

/** A constructor of routes under one guard, which adds `Extra` to the input of the handler. */
export const guarded =
  <Identity, Extra>(guard: Guard<Identity, Extra>) =>
  <D extends TSchema, Q extends TObject, B extends TObject, P extends Path>(
    operation: JsonOperation<Q, B, D, P>,
    handle: (input: Input<Static<Q>, Static<B>, Params<P>> & Extra) => Promise<Static<D>>,
    {
      etag,
      waitForChange,
      retryAfter,
      setCookie,
      isFinal,
    }: RouteOptions<Input<Static<Q>, Static<B>, Params<P>> & Extra, Static<D>> = {},
  ): JsonRoute => ({
    kind: 'json',
    operation: operation as unknown as JsonOperation,
    guard: guard as Guard<unknown, unknown>,
    etag: etag as JsonRoute['etag'],
    waitForChange: waitForChange as JsonRoute['waitForChange'],
    retryAfter: retryAfter as JsonRoute['retryAfter'],
    setCookie: setCookie as JsonRoute['setCookie'],
    isFinal: isFinal as JsonRoute['isFinal'],
    handle: handle as unknown as JsonRoute['handle'],
  });

/** As `guarded`, for streams. */
export const guardedStream =
  <Identity, Extra>(guard: Guard<Identity, Extra>) =>
  <Q extends TObject, P extends Path>(
    operation: BytesOperation<Q, P>,
    open: (input: Input<Static<Q>, unknown, Params<P>> & Extra, connect: () => Writable) => Promise<void>,
  ): StreamRoute => ({
    kind: 'stream',
    operation: operation as unknown as BytesOperation,
    guard: guard as Guard<unknown, unknown>,
    open: open as unknown as StreamRoute['open'],
  });

type GuardedBytes<I, Extra, Parsed> = Pick<BytesRoute, 'body'> & {
  /** Runs before the guard admits the caller, so that errors of the request come first (contract B2). */
  readonly parse: (input: I) => Parsed;
  readonly handle: (input: I & Extra & Parsed, exchange: BytesExchange) => Promise<unknown>;
};

/** As `guarded`, for bodies and responses of bytes. */
export const guardedBytes =
  <Identity, Extra>(guard: Guard<Identity, Extra>) =>
  <Q extends TObject, P extends Path, Parsed extends object>(
    operation: BytesOperation<Q, P>,
    { body = 'none', parse, handle }: GuardedBytes<Input<Static<Q>, unknown, Params<P>>, Extra, Parsed>,
  ): BytesRoute => ({
    kind: 'bytes',
    operation: operation as unknown as BytesOperation,
    body,
    identify: guard.identify,
    ...(guard.ownerOf && { ownerOf: guard.ownerOf as BytesRoute['ownerOf'] }),
    handle: async (request, reply) => {
      const input = toInput(request);
      const parsed = parse(input as never);
      const extra = await guard.admit(request.identity as Identity, input);
      return handle({ ...input, ...parsed, ...extra } as never, { request, reply });
    },
  });

/** The parts of a request that guards and handlers see. */
export const toInput = (request: FastifyRequest, resourceId?: string): Input => ({
  params: request.params as Input['params'],
  query: request.query,
  body: request.body ?? {},
  headers: request.headers,
  resourceId,
});

export const bytesRoute = <Q extends TObject, P extends Path, Template extends Path = P>(
  operation: BytesOperation<Q, P>,
  { handle, ...handling }: BytesHandling<Static<Q>, Params<Template>, Template>,
): BytesRoute => ({
  kind: 'bytes',
  operation: operation as unknown as BytesOperation,
  handle: handle as BytesRoute['handle'],
  ...handling,
});

/** A route without authentication. */
export const open = guarded<undefined, object>({
  name: 'none',
  identify: () => undefined,
  admit: () => ({}),
});

/** The guards of routes for operators. */
export type AsOperator = ReturnType<typeof guarded<undefined, object>>;
export type AsOperatorBytes = ReturnType<typeof guardedBytes<undefined, object>>;
