// The example request of an operation, from the examples of its parameters and its body.
import type { TObject } from 'typebox';
import type { Operation } from '../operation.ts';
import { findPathParameter, listPathNames } from '../openapi/parameters.ts';

type Members = Readonly<Record<string, unknown>>;

/** How a caller identifies itself in the examples. */
export type Credential = 'token' | 'service key' | 'operator key';

export type ExampleRequest = {
  readonly method: Operation['method'];
  /** With its parameters filled in. */
  readonly path: string;
  readonly pathParameters: Readonly<Record<string, string>>;
  readonly query: Members;
  /** Without credentials, and without the media type of a JSON body. */
  readonly headers: Readonly<Record<string, string>>;
  readonly credential: Credential | undefined;
  readonly body: Members | undefined;
  readonly file: string | undefined;
  readonly output: string | undefined;
  /** Whether the response does not end. */
  readonly isStream: boolean;
};

const CREDENTIALS: Readonly<Partial<Record<Operation['auth'], Credential>>> = {
  caller: 'token',
  viewer: 'token',
  service: 'service key',
  operator: 'operator key',
};

/** Two diagnostics of operators lie below paths of signed URLs. */
export const findAuth = ({ auth, tag }: Operation): Operation['auth'] =>
  tag === 'Operators' ? 'operator' : auth;

const TICKET = '1795400100.k3x';

export function buildExampleRequest(operation: Operation): ExampleRequest {
  const { method, path, requestExample = {} } = operation;
  const pathParameters = Object.fromEntries(
    listPathNames(path).map((name) => [name, findPathParameter(path, name)?.example ?? name]),
  );
  return {
    method,
    path: path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(pathParameters[name] ?? '')),
    pathParameters,
    query: { ...requiredQuery(operation), ...requestExample.query },
    headers: requestExample.headers ?? {},
    credential: CREDENTIALS[findAuth(operation)],
    body: bodyOf(operation),
    file: requestExample.file,
    output: requestExample.output ?? outputOf(operation),
    isStream: operation.kind === 'bytes' && operation.response?.event !== undefined,
  };
}

/** Signed URLs have a ticket, and a service key names the owner of a DELETE in the query. */
function requiredQuery({ query, auth, method }: Operation): Members {
  if (!query) return {};
  const required = new Set((query.required ?? []).filter((name) => !('default' in toProperty(query, name))));
  if (auth === 'service' && method === 'DELETE') required.add('owner_user_id');
  const known = Object.keys(query.properties).filter((name) => required.has(name));
  return {
    ...Object.fromEntries(known.map((name) => [name, firstExample(toProperty(query, name))])),
    ...(auth === 'ticket' && 'ticket' in query.properties && { ticket: TICKET }),
  };
}

const toProperty = (schema: TObject, name: string): Members =>
  (schema.properties as Readonly<Record<string, Members>>)[name] ?? {};

const firstExample = ({ examples }: Members): unknown => (Array.isArray(examples) ? examples[0] : undefined);

/** Users own what they send; a body with nothing but the owner is left out for them. */
function bodyOf(operation: Operation): Members | undefined {
  if (operation.kind !== 'json' || operation.method === 'DELETE' || !operation.body) return undefined;
  const { owner_user_id: owner, ...members } = (firstExample({ ...operation.body }) ?? {}) as Members;
  const isNamed = ['service', 'operator'].includes(operation.auth) && owner !== undefined;
  const body = isNamed ? { ...members, owner_user_id: owner } : members;
  return Object.keys(body).length > 0 || operation.isBodyRequired ? body : undefined;
}

/** An object in a query has members as in `metadata[order_id]`. */
export const toQueryText = (query: Members): string =>
  new URLSearchParams(
    Object.entries(query).map(([name, value]): [string, string] => [name, String(value)]),
  ).toString();

const TEXTS = /^text\/|json$|xml$|mpegurl$/;

/** Files of other types are written to disk, under the last part of the path. */
function outputOf(operation: Operation): string | undefined {
  const types = operation.kind === 'bytes' ? (operation.response?.mediaTypes ?? []) : [];
  if (types.length === 0 || types.some((type) => TEXTS.test(type))) return undefined;
  return operation.path.split('/').at(-1);
}
