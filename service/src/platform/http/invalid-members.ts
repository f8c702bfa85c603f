// Finds every invalid member of a body or query, with its reason and limit, in words of our own.
import type { TSchema } from 'typebox';
import { Compile } from 'typebox/compile';
import type { InvalidMember } from './errors.ts';

/** Returns the invalid members in the order of the schema; an empty list if only the whole is wrong. */
type FindInvalidMembers = (value: unknown) => readonly InvalidMember[];

/** Members and entries beyond these are not searched for errors. */
const MAX_ENTRIES = 256;

/**
 * Each member of an object is validated by itself, because the validator stops after a few errors. Validators
 * of members are compiled when they are first needed.
 */
export function createInvalidMemberFinder(schema: TSchema, path = ''): FindInvalidMembers {
  const members = Object.entries(propertiesOf(schema) ?? {});
  if (members.length === 0) return createValueCheck(schema, path);
  const checks = new Map<string, FindInvalidMembers>();
  const required = new Set(requiredOf(schema));
  return (value) => {
    if (!isObject(value)) return createValueCheck(schema, path)(value);
    return members.flatMap(([name, member]) => {
      const field = path === '' ? name : `${path}.${name}`;
      const given = value[name];
      if (given === undefined) return required.has(name) ? [missingMember(field)] : [];
      const check = checks.get(name) ?? createInvalidMemberFinder(member, field);
      checks.set(name, check);
      return check(given);
    });
  };
}

const missingMember = (field: string): InvalidMember => ({
  field,
  reason: 'required',
  message: `${field} is required`,
});

type Member = { readonly properties?: Record<string, TSchema>; readonly required?: readonly string[] };
const propertiesOf = (schema: TSchema) => (schema as Member).properties;
const requiredOf = (schema: TSchema) => (schema as Member).required ?? [];
const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The members of a validator's error that decide what the caller is told. */
type SchemaError = {
  readonly keyword: string;
  readonly instancePath: string;
  readonly params: Readonly<Record<string, unknown>>;
};

function createValueCheck(schema: TSchema, path: string): FindInvalidMembers {
  const validator = Compile(schema);
  return (value) => {
    if (validator.Check(value)) return [];
    // A shortened list is still too long.
    const errors = validator.Errors(limitEntries(value));
    return errors.length > 0 ? [describeErrors(errors as readonly SchemaError[], path, value)] : [];
  };
}

const limitEntries = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.slice(0, MAX_ENTRIES) as unknown;
  return isObject(value) ? Object.fromEntries(Object.entries(value).slice(0, MAX_ENTRIES)) : value;
};

/** The first error counts; those of the other members of a union add what else is allowed. */
function describeErrors(errors: readonly SchemaError[], path: string, value: unknown): InvalidMember {
  const [first] = errors as readonly [SchemaError];
  const place = first.instancePath.slice(1).replaceAll('/', '.');
  const same = errors.filter(({ instancePath }) => instancePath === first.instancePath);
  const missing = first.keyword === 'required' ? (first.params['requiredProperties'] as string[])[0] : '';
  const field = [path, place, missing].filter(Boolean).join('.') || 'body';
  if (missing) return missingMember(field);
  const allowed = allowedValues(same);
  if (allowed.length > 0)
    return {
      field,
      reason: 'unsupported_value',
      allowed,
      message: `${field} must be one of ${allowed.join(', ')}${place === '' ? formatGiven(value) : ''}`,
    };
  if (first.keyword === 'boolean' && errors.some(isOfUnknownMember)) return unknownMember(field);
  const orNull = same.some(({ params }) => params['type'] === 'null') ? ' or null' : '';
  return describeError(field, first, orNull);
}

/** Of an object that may have no members beside those of its schema; the first error is of the member. */
const isOfUnknownMember = ({ keyword }: SchemaError): boolean => keyword === 'additionalProperties';

const unknownMember = (field: string): InvalidMember => ({
  field,
  reason: 'unknown_member',
  message: `Unknown member ${JSON.stringify(field)}`,
});

const allowedValues = (errors: readonly SchemaError[]): readonly unknown[] =>
  errors.flatMap(({ keyword, params }) =>
    keyword === 'enum'
      ? (params['allowedValues'] as unknown[])
      : keyword === 'const'
        ? [params['allowedValue']]
        : [],
  );

const MAX_GIVEN = 100;

const formatGiven = (value: unknown): string =>
  typeof value === 'string' ? `, not ${JSON.stringify(value.slice(0, MAX_GIVEN))}` : '';

const TYPES: Readonly<Record<string, string>> = {
  string: 'a string',
  integer: 'a whole number',
  number: 'a number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
};

/** The forms that schemas of requests ask for. */
const FORMS: Readonly<Record<string, string>> = {
  uuid: 'a UUID',
  '^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$': 'a UUID',
  '^[0-9a-fA-F]{64}$': '64 hexadecimal digits',
  'date-time': 'an ISO 8601 time with its zone',
};

type Bound = { readonly isUpper: boolean; readonly words: (limit: number) => string };
const atLeast = (words: (limit: number) => string): Bound => ({ isUpper: false, words });
const atMost = (words: (limit: number) => string): Bound => ({ isUpper: true, words });

const BOUNDS: Readonly<Record<string, Bound>> = {
  minimum: atLeast((limit) => `be at least ${limit}`),
  exclusiveMinimum: atLeast((limit) => `be more than ${limit}`),
  maximum: atMost((limit) => `be at most ${limit}`),
  exclusiveMaximum: atMost((limit) => `be less than ${limit}`),
  minLength: atLeast((limit) => (limit === 1 ? 'not be empty' : `have at least ${limit} characters`)),
  maxLength: atMost((limit) => `have at most ${limit} characters`),
  minItems: atLeast((limit) => (limit === 1 ? 'not be empty' : `have at least ${limit} entries`)),
  maxItems: atMost((limit) => `have at most ${limit} entries`),
  minProperties: atLeast((limit) => (limit === 1 ? 'not be empty' : `have at least ${limit} members`)),
  maxProperties: atMost((limit) => `have at most ${limit} members`),
};

function describeError(field: string, { keyword, params }: SchemaError, orNull: string): InvalidMember {
  const bound = BOUNDS[keyword];
  if (bound && typeof params['limit'] === 'number') {
    const limit = params['limit'];
    const reason = bound.isUpper ? 'above_maximum' : 'below_minimum';
    return { field, reason, limit, message: `${field} must ${bound.words(limit)}${orNull}` };
  }
  if (keyword === 'type') {
    const expected = `${TYPES[String(params['type'])] ?? String(params['type'])}${orNull}`;
    return { field, reason: 'invalid_type', message: `${field} must be ${expected}` };
  }
  const form = FORMS[String(params['format'] ?? params['pattern'])];
  return {
    field,
    reason: 'invalid_value',
    message: form ? `${field} must be ${form}${orNull}` : `${field} does not have the expected form`,
  };
}
