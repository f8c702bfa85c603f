// Validates bodies and queries against their schemas and reports the first error with its field and limit.
import type { FastifySchemaCompiler } from 'fastify';
import type { TSchema } from 'typebox';
import { Compile } from 'typebox/compile';
import { badRequest, type ServiceError } from '../errors.ts';

type ValidationResult = { value: unknown } | { error: Error };

/**
 * Fastify's validator compiler. Bodies are not coerced; query values are text, so numbers and booleans are
 * parsed.
 */
export const validatorCompiler: FastifySchemaCompiler<TSchema> = ({ schema, httpPart }) => {
  const validator = Compile(schema);
  const prepare = httpPart === 'querystring' ? createQueryParser(schema) : (value: unknown) => value ?? {};
  return (given: unknown): ValidationResult => {
    const value = prepare(given);
    if (validator.Check(value)) return { value };
    const unknown = findUnknownMembers(value, schema);
    if (unknown.length > 0) return { error: unknownMembers(unknown, schema) };
    const [error] = validator.Errors(limitMembers(value, schema));
    return { error: error ? toServiceError(error as SchemaError) : badRequest('The request is invalid') };
  };
};

/** More than any schema allows, so that a shortened list is still too long. */
const MAX_MEMBERS = 256;

/**
 * The validator collects the errors of all members (8 µs each): a body of 128 KiB could block the event loop
 * for 500 ms. Therefore only the first members, and those named in the schema, are searched for errors.
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

function toServiceError({ keyword, instancePath, message, params }: SchemaError): ServiceError {
  const parent = instancePath.slice(1).replaceAll('/', '.');
  const missing =
    keyword === 'required' ? (params['requiredProperties'] as string[] | undefined)?.[0] : undefined;
  const field = [parent, missing].filter(Boolean).join('.') || 'body';
  const problem = missing ? 'is required' : message;
  return badRequest(`${field} ${problem}`, { field, rule: keyword, ...limitOf(params) });
}

/** Only schemas without additional properties have unknown members. */
function findUnknownMembers(value: unknown, schema: TSchema): readonly string[] {
  if (!('additionalProperties' in schema) || schema.additionalProperties !== false) return [];
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return [];
  const known = new Set(allowedMembers(schema));
  return Object.keys(value).filter((name) => !known.has(name));
}

const allowedMembers = (schema: TSchema): readonly string[] =>
  'properties' in schema ? Object.keys(schema.properties as object) : [];

/** Number and length of the names in the error message, which would otherwise grow with the request. */
const MAX_NAMES = 10;
const MAX_NAME_LENGTH = 100;

/** Ignoring a misspelt member would look like a successful change. */
function unknownMembers(unknown: readonly string[], schema: TSchema): ServiceError {
  const allowed = allowedMembers(schema);
  const shown = unknown.slice(0, MAX_NAMES).map((name) => name.slice(0, MAX_NAME_LENGTH));
  const names = shown.map((name) => JSON.stringify(name)).join(', ');
  return badRequest(
    `Unknown member${unknown.length > 1 ? 's' : ''} in the body: ${names}. Allowed: ${allowed.join(', ')}.`,
    { field: shown[0], reason: 'unknown_member', allowed },
  );
}

function limitOf({ limit, allowedValues }: SchemaError['params']): object {
  if (typeof limit === 'number') return { limit };
  return Array.isArray(allowedValues) ? { allowed: allowedValues } : {};
}

const INTEGER = /^-?\d{1,15}$/;
const DECIMAL = /^-?\d{1,12}(?:\.\d{1,12})?$/;
const PARSERS: Readonly<Record<string, (text: string) => unknown>> = {
  integer: (text) => (INTEGER.test(text) ? Number(text) : text),
  number: (text) => (DECIMAL.test(text) ? Number(text) : text),
  boolean: (text) => (text === 'true' ? true : text === 'false' ? false : text),
};

/**
 * Parses query text by the schema's types and applies defaults. Invalid text is not converted and fails the
 * validation.
 */
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
