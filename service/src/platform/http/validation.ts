// Validates bodies and queries against their schemas and reports every invalid member.
import type { FastifySchemaCompiler } from 'fastify';
import type { TSchema } from 'typebox';
import { Compile } from 'typebox/compile';
import { badRequest, invalidMembers } from './errors.ts';
import { createInvalidMemberFinder } from './invalid-members.ts';
import { findUnknownMembers } from './unknown-members.ts';

type ValidationResult = { value: unknown } | { error: Error };

/**
 * Fastify's validator compiler. Bodies are not coerced; query values are text, so numbers and booleans are
 * parsed.
 */
export const validatorCompiler: FastifySchemaCompiler<TSchema> = ({ schema, httpPart }) => {
  const validator = Compile(schema);
  const prepare = httpPart === 'querystring' ? createQueryParser(schema) : (value: unknown) => value ?? {};
  const findInvalid = createInvalidMemberFinder(schema);
  return (given: unknown): ValidationResult => {
    const value = prepare(given);
    if (validator.Check(value)) return { value };
    const unknown = isClosed(schema) ? findUnknownMembers(value, schema, 'member') : [];
    const members = [...findInvalid(value), ...unknown];
    return { error: members[0] ? invalidMembers(members) : badRequest('The request is invalid') };
  };
};

const isClosed = (schema: TSchema): boolean =>
  'additionalProperties' in schema && schema.additionalProperties === false;

const INTEGER = /^-?\d{1,15}$/;
const DECIMAL = /^-?\d{1,12}(?:\.\d{1,12})?$/;
const PARSERS: Readonly<Record<string, (text: string) => unknown>> = {
  integer: (text) => (INTEGER.test(text) ? Number(text) : text),
  number: (text) => (DECIMAL.test(text) ? Number(text) : text),
  boolean: (text) => (text === 'true' ? true : text === 'false' ? false : text),
};

/**
 * Parses query text by the schema's types and applies defaults. Invalid text is not converted and fails the
 * validation. An array has one value or repeated ones; an object has members as in `metadata[order_id]`.
 */
function createQueryParser(schema: TSchema): (query: unknown) => unknown {
  const properties = Object.entries(
    ('properties' in schema ? schema.properties : {}) as Record<string, { type?: string; default?: unknown }>,
  );
  return (query) => {
    const given = { ...(query as Record<string, unknown>) };
    for (const [name, { type = '', default: fallback }] of properties) {
      if (type === 'object') gatherMembers(given, name);
      const value = given[name];
      if (value === undefined && fallback !== undefined) given[name] = fallback;
      else if (typeof value === 'string' && type === 'array') given[name] = [value];
      else if (typeof value === 'string' && PARSERS[type]) given[name] = PARSERS[type](value);
    }
    return given;
  };
}

/** Moves `name[member]` of the query into an object at `name`. */
function gatherMembers(query: Record<string, unknown>, name: string): void {
  const keys = Object.keys(query).filter((key) => key.startsWith(`${name}[`) && key.endsWith(']'));
  if (keys.length === 0 || query[name] !== undefined) return;
  query[name] = Object.fromEntries(keys.map((key) => [key.slice(name.length + 1, -1), query[key]]));
  for (const key of keys) delete query[key];
}
