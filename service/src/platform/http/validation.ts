// Checks bodies and queries against their schemas and words the first fault: which field, which limit.
import type { FastifySchemaCompiler } from 'fastify';
import type { TSchema } from 'typebox';
import { Compile } from 'typebox/compile';
import { badRequest, type ServiceError } from '../errors.ts';

type Checked = { value: unknown } | { error: Error };

/** Fastify's validator compiler: bodies are taken as they are, query values are text, so numbers and booleans are read from it. */
export const validatorCompiler: FastifySchemaCompiler<TSchema> = ({ schema, httpPart }) => {
  const validator = Compile(schema);
  const prepare = httpPart === 'querystring' ? queryReader(schema) : (value: unknown) => value ?? {};
  return (given: unknown): Checked => {
    const value = prepare(given);
    if (validator.Check(value)) return { value };
    // `boolean` repeats, for each unknown member, what `additionalProperties` says of all.
    const fault = validator.Errors(shorten(value, schema)).find(({ keyword }) => keyword !== 'boolean');
    return { error: fault ? asError(fault as Fault, schema) : badRequest('The request is invalid') };
  };
};

/** More than any schema allows, so that what is too long stays too long. */
const MAX_MEMBERS = 256;

/**
 * The validator looks for the faults of all members, at 8 µs each, also when it returns only the first: a body of 128 KiB
 * could hold the event loop for half a second. Only the first members are searched, and those that the schema names.
 */
function shorten(value: unknown, schema: TSchema): unknown {
  if (Array.isArray(value)) return value.slice(0, MAX_MEMBERS);
  if (typeof value !== 'object' || value === null) return value;
  const named = new Map(
    Object.entries('properties' in schema ? (schema.properties as Record<string, TSchema>) : {}),
  );
  return Object.fromEntries(
    Object.entries(value)
      .filter(([name], index) => index < MAX_MEMBERS || named.has(name))
      .map(([name, member]) => [name, shortenMember(member, named.get(name))]),
  );
}

/** What no schema describes is not searched, and may be nested without end. */
const shortenMember = (member: unknown, schema: TSchema | undefined): unknown =>
  schema ? shorten(member, schema) : member;

/** The part of a validator's error that is told to the caller. */
type Fault = {
  readonly keyword: string;
  readonly instancePath: string;
  readonly message: string;
  readonly params: Readonly<Record<string, unknown>>;
};

function asError({ keyword, instancePath, message, params }: Fault, schema: TSchema): ServiceError {
  if (keyword === 'additionalProperties') return unknownMember(params, schema);
  const parent = instancePath.slice(1).replaceAll('/', '.');
  const missing =
    keyword === 'required' ? (params['requiredProperties'] as string[] | undefined)?.[0] : undefined;
  const field = [parent, missing].filter(Boolean).join('.') || 'body';
  const words = missing ? 'is required' : message;
  return badRequest(`${field} ${words}`, { field, rule: keyword, ...limitOf(params) });
}

/** A misspelt member would look like a change that was made. */
function unknownMember({ additionalProperties }: Fault['params'], schema: TSchema): ServiceError {
  const unknown = additionalProperties as readonly string[];
  const allowed = 'properties' in schema ? Object.keys(schema.properties as object) : [];
  const names = unknown.map((name) => JSON.stringify(name)).join(', ');
  return badRequest(
    `Unknown member${unknown.length > 1 ? 's' : ''} in the body: ${names}. Allowed: ${allowed.join(', ')}.`,
    { field: unknown[0], reason: 'unknown_member', allowed },
  );
}

function limitOf({ limit, allowedValues }: Fault['params']): object {
  if (typeof limit === 'number') return { limit };
  return Array.isArray(allowedValues) ? { allowed: allowedValues } : {};
}

const WHOLE = /^-?\d{1,15}$/;
const READERS: Readonly<Record<string, (text: string) => unknown>> = {
  integer: (text) => (WHOLE.test(text) ? Number(text) : text),
  boolean: (text) => (text === 'true' ? true : text === 'false' ? false : text),
};

/** Reads query text by the schema's types and fills defaults in; what is not of its type stays text and fails the check. */
function queryReader(schema: TSchema): (query: unknown) => unknown {
  const properties = Object.entries(
    ('properties' in schema ? schema.properties : {}) as Record<string, { type?: string; default?: unknown }>,
  );
  return (query) => {
    const given = { ...(query as Record<string, unknown>) };
    for (const [name, { type = '', default: fallback }] of properties) {
      const value = given[name];
      if (value === undefined && fallback !== undefined) given[name] = fallback;
      else if (typeof value === 'string' && READERS[type]) given[name] = READERS[type](value);
    }
    return given;
  };
}
