// A route: an operation of the contract, the guard that opens it, and the function that handles it.
import type { IncomingHttpHeaders } from 'node:http';
import type { BytesOperation, JsonOperation } from '@mediary/contract/operation';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Static, TObject, TSchema } from 'typebox';

/** A validated request; path parameters are decoded. */
export type Input<Q = unknown, B = unknown> = {
  readonly params: Readonly<Record<string, string>>;
  readonly query: Q;
  readonly body: B;
  readonly headers: IncomingHttpHeaders;
  /** The id of what a POST creates, where an Idempotency-Key makes it repeatable. */
  readonly madeId?: string | undefined;
};

/** Who may use a route, in two steps: `identify` before the body is read (401), `admit` after it was validated (400, 404, 403). */
export type Guard<Identity, Extra> = {
  readonly name: string;
  readonly identify: (request: FastifyRequest) => Identity;
  /** Names the caller, so that its Idempotency-Keys are its own; absent where there are none. */
  readonly callerName?: (identity: Identity) => string;
  /** Whose requests these are, as far as the request itself says; their rate may be limited. */
  readonly ownerOf?: (identity: Identity, input: Pick<Input, 'query' | 'body'>) => string | undefined;
  readonly admit: (identity: Identity, input: Input) => Extra | Promise<Extra>;
};

type RouteOptions<I> = {
  /** The ETag of the response, in quotes; a request that names it gets 304. */
  readonly etag?: (input: I) => string;
};

/** A route whose response is the envelope. */
export type JsonRoute = {
  readonly kind: 'json';
  readonly operation: JsonOperation;
  readonly guard: Guard<unknown, unknown>;
  readonly etag: ((input: Input & object) => string) | undefined;
  readonly handle: (input: Input & object) => Promise<unknown>;
};

type BytesHandling = {
  /** How the body reaches the handler: not at all (the default), as a stream, or as bytes up to a limit. */
  readonly body?: 'none' | 'stream' | { readonly maxBytes: number };
  /** Router pattern, where one route serves several operations. */
  readonly path?: `/${string}`;
  /** Returns the body, or data of the envelope by `success`. */
  readonly handle: (request: FastifyRequest, reply: FastifyReply) => Promise<unknown>;
};

/** A route that responds with bytes, a redirect, or an envelope that it builds itself. */
export type BytesRoute = { readonly kind: 'bytes'; readonly operation: BytesOperation } & BytesHandling;

export type Route = JsonRoute | BytesRoute;

/** A constructor of routes under one guard, which adds `Extra` to the input of the handler. */
export const guarded =
  <Identity, Extra>(guard: Guard<Identity, Extra>) =>
  <D extends TSchema, Q extends TObject, B extends TObject>(
    operation: JsonOperation<Q, B, D>,
    handle: (input: Input<Static<Q>, Static<B>> & Extra) => Promise<Static<D>>,
    { etag }: RouteOptions<Input<Static<Q>, Static<B>> & Extra> = {},
  ): JsonRoute => ({
    kind: 'json',
    operation: operation as unknown as JsonOperation,
    guard: guard as Guard<unknown, unknown>,
    etag: etag as JsonRoute['etag'],
    handle: handle as unknown as JsonRoute['handle'],
  });

export const bytesRoute = (operation: BytesOperation, handling: BytesHandling): BytesRoute => ({
  kind: 'bytes',
  operation,
  ...handling,
});

/** Open to everybody. */
export const open = guarded<undefined, object>({
  name: 'nobody',
  identify: () => undefined,
  admit: () => ({}),
});

/** The guard of operators, who have one key. */
export type AsOperator = ReturnType<typeof guarded<undefined, object>>;
