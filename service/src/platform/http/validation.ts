// Validates bodies and queries against their schemas and reports the first error with its field and limit.
import type { FastifySchemaCompiler } from 'fastify';
import type { TSchema } from 'typebox';
import { Compile } from 'typebox/compile';
import { badRequest, type ServiceError } from '../errors.ts';

type ValidationResult = { value: unknown } | { error: Error };

/** Fastify's validator compiler. Bodies are not coerced; query values are text, so numbers and booleans are parsed. */
export const validatorCompiler: FastifySchemaCompiler<TSchema> = ({ schema, httpPart }) => {
  const validator = Compile(schema);
  const prepare = httpPart === 'querystring' ? createQueryParser(schema) : (value: unknown) => value ?? {};
  return (given: unknown): ValidationResult => {
    const value = prepare(given);
    if (validator.Check(value)) return { value };
    // `boolean` repeats, for each unknown member, what `additionalProperties` says of all.
    const fault = validator.Errors(limitMembers(value, schema)).find(({ keyword }) => keyword !== 'boolean');
    return {
      error: fault ? toServiceError(fault as SchemaError, schema) : badRequest('The request is invalid'),
    };
  };
};

/** More than any schema allows, so that a shortened list is still too long. */
const MAX_MEMBERS = 256;

/**
 * The validator collects the errors of all members (8 µs each): a body of 128 KiB could block the event loop for 500 ms.
 * Therefore only the first members, and those named in the schema, are searched for errors.
 */
function limitMembers(value: unknown, schema: TSchema): unknown {
  if (Array.isArray(value)) return value.slice(0, MAX_MEMBERS);
  if (typeof value !== 'object' || value === null) return value;
  const named = new Map(
    Object.entries('properties' in schema ? (schema.properties as Record<string, TSchema>) : {}),
  );
  return Object.fromEntries(
    Object.entries(value)
      .filter(([name], index) => index < MAX_MEMBERS || named.has(name))
      .map(([name, member]) => [name, limitMember(member, named.get(name))]),
  );
}

/** Members without a schema are not validated and may be nested to any depth. */
const limitMember = (member: unknown, schema: TSchema | undefined): unknown =>
  schema ? limitMembers(member, schema) : member;

/** The members of a validator's error that are reported to the caller. */
type SchemaError = {
  readonly keyword: string;
  readonly instancePath: string;
  readonly message: string;
  readonly params: Readonly<Record<string, unknown>>;
};

function toServiceError(
  { keyword, instancePath, message, params }: SchemaError,
  schema: TSchema,
): ServiceError {
  if (keyword === 'additionalProperties') return unknownMember(params, schema);
  const parent = instancePath.slice(1).replaceAll('/', '.');
  const missing =
    keyword === 'required' ? (params['requiredProperties'] as string[] | undefined)?.[0] : undefined;
  const field = [parent, missing].filter(Boolean).join('.') || 'body';
  const problem = missing ? 'is required' : message;
  return badRequest(`${field} ${problem}`, { field, rule: keyword, ...limitOf(params) });
}

/** A misspelt member would look like a change that was made. */
function unknownMember({ additionalProperties }: SchemaError['params'], schema: TSchema): ServiceError {
  const unknown = additionalProperties as readonly string[];
  const allowed = 'properties' in schema ? Object.keys(schema.properties as object) : [];
  const names = unknown.map((name) => JSON.stringify(name)).join(', ');
  return badRequest(
    `Unknown member${unknown.length > 1 ? 's' : ''} in the body: ${names}. Allowed: ${allowed.join(', ')}.`,
    { field: unknown[0], reason: 'unknown_member', allowed },
  );
}

function limitOf({ limit, allowedValues }: SchemaError['params']): object {
  if (typeof limit === 'number') return { limit };
  return Array.isArray(allowedValues) ? { allowed: allowedValues } : {};
}

const INTEGER = /^-?\d{1,15}$/;
const PARSERS: Readonly<Record<string, (text: string) => unknown>> = {
  integer: (text) => (INTEGER.test(text) ? Number(text) : text),
  boolean: (text) => (text === 'true' ? true : text === 'false' ? false : text),
};

/** Parses query text by the schema's types and applies defaults. Invalid text is not converted and fails the validation. */
function createQueryParser(schema: TSchema): (query: unknown) => unknown {
  const properties = Object.entries(
    ('properties' in schema ? schema.properties : {}) as Record<string, { type?: string; default?: unknown }>,
  );
  return (query) => {
    const given = { ...(query as Record<string, unknown>) };
    for (const [name, { type = '', default: fallback }] of properties) {
      const value = given[name];
      if (value === undefined && fallback !== undefined) given[name] = fallback;
      else if (typeof value === 'string' && PARSERS[type]) given[name] = PARSERS[type](value);
    }
    return given;
  };
}
