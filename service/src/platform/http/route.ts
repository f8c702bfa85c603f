// A route as data: the guard that opens it, the schemas that give types, validation and documentation, and one call.
import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Static, TObject, TSchema } from 'typebox';
import type { RateClass } from './rate-limit.ts';

/** What validation left of a request; path parameters as they were decoded. */
export type Input<Q = unknown, B = unknown> = {
  readonly params: Readonly<Record<string, string>>;
  readonly query: Q;
  readonly body: B;
  readonly headers: IncomingHttpHeaders;
  /** The id of what a POST makes, where a key makes it repeatable. */
  readonly madeId?: string | undefined;
};

/** Who may use a route, in two steps: `identify` before the body is read (401), `admit` after it was validated (400, 404, 403). */
export type Guard<Identity, Extra> = {
  readonly name: string;
  /** Names of the OpenAPI security schemes, of which one must be given; empty for public routes. */
  readonly security: readonly string[];
  readonly identify: (request: FastifyRequest) => Identity;
  /** Names the caller, so that its Idempotency-Keys are its own; absent where there are none. */
  readonly callerName?: (identity: Identity) => string;
  /** Whose requests these are, as far as the request itself says; their rate may be limited. */
  readonly ownerOf?: (identity: Identity, input: Pick<Input, 'query' | 'body'>) => string | undefined;
  readonly admit: (identity: Identity, input: Input) => Extra | Promise<Extra>;
};

type Spec<Q extends TObject, B extends TSchema, A extends TSchema, Extra> = {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly url: `/${string}`;
  readonly message: string;
  /** One sentence for the API's documentation. */
  readonly summary: string;
  readonly query?: Q;
  readonly body?: B;
  readonly answer: A;
  /** Error statuses beside those that every route of its kind has. */
  readonly errors?: readonly number[];
  readonly rateClass?: RateClass;
  /** Of the answer, in quotes: whoever has it already gets 304. */
  readonly etag?: (input: Input<Static<Q>, Static<B>> & Extra) => string;
  readonly handle: (input: Input<Static<Q>, Static<B>> & Extra) => Promise<Static<A>>;
};

/** A route whose answer stands in the envelope. */
export type JsonRoute = {
  readonly kind: 'json';
  readonly guard: Guard<unknown, unknown>;
  readonly method: string;
  readonly url: string;
  readonly message: string;
  readonly summary: string;
  readonly query: TSchema | undefined;
  readonly body: TSchema | undefined;
  readonly answer: TSchema;
  readonly errors: readonly number[];
  readonly rateClass?: RateClass;
  readonly etag: ((input: Input & object) => string) | undefined;
  readonly handle: (input: Input & object) => Promise<unknown>;
};

/** A route that answers with bytes, a redirect, or an envelope that it sends itself. */
export type RawRoute = {
  readonly kind: 'raw';
  readonly method: 'GET' | 'POST' | 'PUT';
  readonly url: `/${string}`;
  readonly summary: string;
  /** How the body reaches the handler: not at all, as a stream, or as bytes up to a limit. */
  readonly body: 'none' | 'stream' | { readonly maxBytes: number };
  readonly rateClass?: RateClass;
  readonly query?: TObject;
  readonly answers: Readonly<Record<number, string>>;
  /** The data of its success, where that stands in the envelope. */
  readonly answer?: TSchema;
  readonly handle: (request: FastifyRequest, reply: FastifyReply) => Promise<unknown>;
};

export type Route = JsonRoute | RawRoute;

/** A constructor of routes under one guard, which adds `Extra` to what the handler is given. */
export const guarded =
  <Identity, Extra>(guard: Guard<Identity, Extra>) =>
  <A extends TSchema, Q extends TObject = TObject, B extends TSchema = TSchema>(
    spec: Spec<Q, B, A, Extra>,
  ): JsonRoute => ({
    kind: 'json',
    query: undefined,
    body: undefined,
    errors: [],
    ...spec,
    guard: guard as Guard<unknown, unknown>,
    etag: spec.etag as JsonRoute['etag'],
    handle: spec.handle as JsonRoute['handle'],
  });

/** Open to everybody. */
export const open = guarded<undefined, object>({
  name: 'nobody',
  security: [],
  identify: () => undefined,
  admit: () => ({}),
});
