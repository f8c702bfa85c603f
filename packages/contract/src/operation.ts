// The type of an operation: one endpoint with its schemas, errors and documentation.
import type { TObject, TSchema } from 'typebox';
import type { ServiceScope } from './enums.ts';
import type { ErrorCode, ErrorReason } from './errors.ts';

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'HEAD' | 'OPTIONS';

/**
 * Who may call. `caller`: a bearer token or the service key. `service`: the service key. `operator`: the
 * operator key. `ticket`: a signed
 * URL. `playback`: anybody for public assets, a token in the path for private ones. `webhook`: the provider's
 * signature. `viewer`: anybody for what is public, a `caller` for what is its own. `none`: anybody.
 */
export type Auth = 'caller' | 'viewer' | 'service' | 'operator' | 'ticket' | 'playback' | 'webhook' | 'none';

export type Tag =
  | 'Uploads'
  | 'Assets'
  | 'Events'
  | 'Playback'
  | 'Captions'
  | 'Collections'
  | 'Webhooks'
  | 'Resumable uploads (tus)'
  | 'Multipart uploads (S3)'
  | 'Provider callbacks'
  | 'Console'
  | 'Operators'
  | 'Service'
  | 'Player files';

/** Request headers that an operation reads, beside those of its authentication. */
export type RequestHeader =
  | 'Idempotency-Key'
  | 'If-Match'
  | 'If-None-Match'
  | 'Last-Event-ID'
  | 'Range'
  | 'Accept'
  | 'Content-Type'
  | 'X-Diagnostics-Token'
  | 'X-Mediary-Console'
  | 'X-Upload-Ticket';

export type RateClass = 'none' | 'webhook';

/** What the example of a request has beside path parameters, required query parameters and credentials. */
type RequestExample = {
  readonly query?: Readonly<Record<string, string | number | boolean>>;
  readonly headers?: Readonly<Record<string, string>>;
  /** The file whose bytes are the body. */
  readonly file?: string;
  /** The file to which the response is written. */
  readonly output?: string;
};

/** One way in which an operation fails; `when` is a full sentence. */
export type ErrorCase = { readonly code: ErrorCode; readonly reason?: ErrorReason; readonly when: string };

/** OpenAPI path template below the origin, `/api/v1/media/{id}`. */
export type Path = `/${string}`;

type Described<P extends Path> = {
  /** OpenAPI operation id: a verb and a noun, `completeUpload`. */
  readonly id: string;
  readonly method: Method;
  readonly path: P;
  readonly tag: Tag;
  readonly auth: Auth;
  /** The scope that a named service key needs; omitted: `read` for GET and HEAD, else `write`. */
  readonly scope?: ServiceScope;
  /** Whether the holder of an upload token may call it. */
  readonly acceptsUploadTokens?: true;
  /** Whether `ticket` in the query takes the place of the credentials. */
  readonly acceptsEventTickets?: true;
  /** A short phrase, imperative: "Complete an upload". */
  readonly summary: string;
  readonly description?: string;
  readonly requestHeaders?: readonly RequestHeader[];
  /** Each may carry the signature of a webhook; one is enough. */
  readonly signatureHeaders?: readonly string[];
  readonly requestExample?: RequestExample;
  /** `none`: rate limits do not apply. `webhook`: a limit of its own, answered with 503. */
  readonly rateClass?: RateClass;
  /** Failures beside those that authentication, validation and an outage imply. */
  readonly errors?: readonly ErrorCase[];
};

/** An operation whose response is the JSON envelope. */
export type JsonOperation<
  Q extends TObject = TObject,
  B extends TObject = TObject,
  D extends TSchema = TSchema,
  P extends Path = Path,
> = Described<P> & {
  readonly kind: 'json';
  readonly query?: Q;
  readonly body?: B;
  /** Whether a request without a body is refused. */
  readonly isBodyRequired?: boolean;
  /** `message` of the envelope. */
  readonly message: string;
  /** Default 200. 202: the work goes on after the response. */
  readonly status?: 202;
  readonly data: D;
  /** `data` of a typical response. */
  readonly example: unknown;
  /** Whether the response carries an `ETag` and answers `If-None-Match` with 304. */
  readonly hasEtag?: boolean;
};

/** A body or response of bytes. */
type Bytes = {
  readonly mediaTypes: readonly string[];
  readonly description: string;
  /** The bytes of a typical request, as text. */
  readonly example?: string;
  /** What `data` of each server-sent event contains, as JSON. */
  readonly event?: { readonly data: TSchema; readonly example: unknown };
  /** The schema of a JSON body without the envelope. */
  readonly json?: { readonly data: TSchema; readonly example: unknown };
};

/** An operation that streams bytes in or out, or redirects. */
export type BytesOperation<Q extends TObject = TObject, P extends Path = Path> = Described<P> & {
  readonly kind: 'bytes';
  readonly query?: Q;
  readonly params?: Readonly<Record<string, string>>;
  readonly body?: Bytes;
  /** Schema of a JSON body that is verified as raw bytes. */
  readonly jsonBody?: TSchema;
  readonly response?: Bytes;
  /** Where the response is the envelope after all. */
  readonly data?: TSchema;
  readonly message?: string;
  readonly example?: unknown;
  /** Status → description, of responses that carry no body of their own. */
  readonly otherResponses?: Readonly<Record<number, string>>;
  /** Headers of the 200 response beside those that every response has. */
  readonly responseHeaders?: Readonly<Record<string, string>>;
};

export type Operation = JsonOperation | BytesOperation;

export const jsonOperation = <
  D extends TSchema,
  const P extends Path,
  Q extends TObject = TObject,
  B extends TObject = TObject,
>(
  operation: Omit<JsonOperation<Q, B, D, P>, 'kind'>,
): JsonOperation<Q, B, D, P> => ({ kind: 'json', ...operation });

export const bytesOperation = <const P extends Path, Q extends TObject = TObject>(
  operation: Omit<BytesOperation<Q, P>, 'kind'>,
): BytesOperation<Q, P> => ({ kind: 'bytes', ...operation });

export const scopeOf = ({ method, scope }: Pick<Described<Path>, 'method' | 'scope'>): ServiceScope =>
  scope ?? (method === 'GET' || method === 'HEAD' ? 'read' : 'write');
