// Names the members and parameters of a request that the operation does not know (contract B1).
import type { IncomingHttpHeaders } from 'node:http';
import type { TSchema } from 'typebox';
import { type InvalidMember, invalidMembers } from './errors.ts';

/** Number and length of the names in a response, which would otherwise grow with the request. */
const MAX_NAMES = 10;
const MAX_NAME_LENGTH = 100;

type ObjectSchema = {
  readonly properties?: Readonly<Record<string, TSchema>>;
  readonly items?: TSchema;
  readonly additionalProperties?: unknown;
};

/**
 * At most ten names, dotted below the first level. Objects that may have any members have no unknown ones.
 */
const listUnknownMembers = (value: unknown, schema: TSchema): readonly string[] =>
  findUnknown(value, schema, '').slice(0, MAX_NAMES);

function findUnknown(value: unknown, schema: ObjectSchema, path: string): readonly string[] {
  if (typeof value !== 'object' || value === null) return [];
  if (Array.isArray(value)) {
    const { items } = schema;
    return items === undefined ? [] : value.flatMap((item, n) => findUnknown(item, items, `${path}${n}.`));
  }
  const { properties, additionalProperties } = schema;
  if (properties === undefined || additionalProperties === true) return [];
  return Object.entries(value).flatMap(([name, member]) => {
    const known = Object.hasOwn(properties, name) ? properties[name] : undefined;
    if (known === undefined) return [`${path}${name}`.slice(0, MAX_NAME_LENGTH)];
    return findUnknown(member, known, `${path}${name}.`);
  });
}

/** `kind`: `member` of a body, `parameter` of a query. Only the last message says what is allowed. */
export function findUnknownMembers(value: unknown, schema: TSchema, kind: string): readonly InvalidMember[] {
  const names = listUnknownMembers(value, schema);
  const allowed = Object.keys((schema as ObjectSchema).properties ?? {});
  return names.map((field, index) => {
    const isLast = index === names.length - 1;
    const hint = isLast ? `. Allowed: ${allowed.join(', ') || 'none'}.` : '';
    const message = `Unknown ${kind} ${JSON.stringify(field)}${hint}`;
    return { field, reason: 'unknown_member', allowed, message };
  });
}

type CheckedRequest = {
  readonly method: string;
  readonly query: unknown;
  readonly body?: unknown;
  readonly headers: IncomingHttpHeaders;
};
export type RequestSchemas = { readonly query?: TSchema | undefined; readonly body?: TSchema | undefined };

const OWNER = 'owner_user_id';
const NOTHING = { properties: {} } as unknown as TSchema;

/**
 * Returns the value of `Ignored-Members`, undefined if everything is known. Throws BAD_REQUEST where the
 * caller prefers this (RFC 7240), and for PATCH, whose ignored member would look like a change.
 */
export function findIgnoredMembers(
  request: CheckedRequest,
  { query = NOTHING, body }: RequestSchemas,
): string | undefined {
  const unknown = [
    // Guards read the owner of every operation from the query too.
    ...findUnknownMembers(request.query, query, 'parameter').filter(({ field }) => field !== OWNER),
    ...(body ? findUnknownMembers(request.body, body, 'member') : []),
  ];
  if (unknown.length === 0) return undefined;
  if (request.method === 'PATCH' || prefersStrict(request.headers['prefer'])) throw invalidMembers(unknown);
  return unknown.map(({ field }) => encodeURIComponent(field.toWellFormed())).join(', ');
}

const STRICT = /(?:^|[,;])\s*handling\s*=\s*"?strict"?\s*(?:[,;]|$)/i;

const prefersStrict = (prefer: unknown): boolean => typeof prefer === 'string' && STRICT.test(prefer);
