// Tests the validation of bodies and queries, and that it finds the first of many errors fast.
import { Type } from 'typebox';
import { describe, expect, test } from 'vitest';
import { validatorCompiler } from './validation.ts';

const schema = Type.Object({ tags: Type.Array(Type.String(), { maxItems: 50 }) });
const validate = validatorCompiler({ schema, method: 'POST', url: '/', httpPart: 'body' });

test('a list with 60,000 errors is not searched completely', () => {
  let reads = 0;
  const tags = new Proxy(
    Array.from({ length: 60_000 }, () => 1),
    {
      get: (list, name) => {
        reads += 1;
        return Reflect.get(list, name);
      },
    },
  );
  expect(validate({ tags })).toMatchObject({ error: { details: { field: 'tags.0' } } });
  expect(reads).toBeLessThan(2000);
});

test('a list that is too long is rejected because of its length', () => {
  const tags = Array.from({ length: 10_000 }, () => 'tag');
  expect(validate({ tags })).toMatchObject({ error: { details: { field: 'tags', limit: 50 } } });
});

test('an invalid member is found behind any number of members without a schema', () => {
  const members = Object.fromEntries(Array.from({ length: 1000 }, (_, n) => [`other${n}`, n]));
  expect(validate({ ...members, tags: 'a' })).toMatchObject({ error: { details: { field: 'tags' } } });
  expect(validate({ ...members, tags: ['a', 1] })).toMatchObject({ error: { details: { field: 'tags.1' } } });
});

describe('a body', () => {
  const strict = validatorCompiler({
    schema: Type.Object(
      {
        name: Type.String({ maxLength: 3 }),
        kind: Type.Optional(Type.Union([Type.Literal('a'), Type.Literal('b')])),
        size: Type.Optional(Type.Integer({ minimum: 1 })),
        inner: Type.Optional(Type.Object({ id: Type.String() })),
      },
      { additionalProperties: false },
    ),
    method: 'POST',
    url: '/',
    httpPart: 'body',
  });
  const errorOf = (body: unknown) => strict(body) as { error?: { message: string; details: object } };

  test('that fits is returned as it is', () => {
    expect(strict({ name: 'abc', size: 1 })).toEqual({ value: { name: 'abc', size: 1 } });
  });
  test.each([undefined, null, {}])('that is %j lacks its required member', (body) => {
    expect(errorOf(body)).toMatchObject({
      error: { message: 'name is required', details: { field: 'name', reason: 'required' } },
    });
  });
  test('that lacks a member of an object is told where', () => {
    expect(errorOf({ name: 'a', inner: {} })).toMatchObject({
      error: { message: 'inner.id is required', details: { field: 'inner.id' } },
    });
  });
  test.each(['text', 7, []])('that is no object is named itself: %j', (body) => {
    expect(errorOf(body)).toMatchObject({ error: { details: { field: 'body', reason: 'invalid_type' } } });
  });
  test('with a value beyond a limit names the limit', () => {
    expect(errorOf({ name: 'abcd' })).toMatchObject({
      error: { message: expect.stringMatching(/^name \S/), details: { field: 'name', limit: 3 } },
    });
    expect(errorOf({ name: 'a', size: 0 })).toMatchObject({
      error: { details: { field: 'size', reason: 'below_minimum', limit: 1 } },
    });
  });
  test('lists every invalid member in our words, the first one also beside the list', () => {
    const { error } = errorOf({ kind: 'c', size: 0, inner: { id: 7 } });
    expect(error?.message).toBe(
      'name is required; kind must be one of a, b, not "c"; size must be at least 1; ' +
        'inner.id must be a string',
    );
    expect(error?.details).toMatchObject({
      field: 'name',
      reason: 'required',
      errors: [
        { field: 'name', reason: 'required', message: 'name is required' },
        { field: 'kind', reason: 'unsupported_value', allowed: ['a', 'b'] },
        { field: 'size', reason: 'below_minimum', limit: 1 },
        { field: 'inner.id', reason: 'invalid_type' },
      ],
    });
  });
  test('is not coerced', () => {
    expect(errorOf({ name: 'a', size: '1' })).toMatchObject({
      error: { details: { field: 'size', reason: 'invalid_type' } },
    });
  });
  test('with an unknown member names it, and those that are allowed', () => {
    expect(errorOf({ name: 'a', nmae: 'b' })).toMatchObject({
      error: {
        message: 'Unknown member "nmae". Allowed: name, kind, size, inner.',
        details: { field: 'nmae', reason: 'unknown_member', allowed: ['name', 'kind', 'size', 'inner'] },
      },
    });
    expect(errorOf({ name: 'a', b: 1, c: 2 }).error?.message).toMatch(
      /^Unknown member "b"; Unknown member "c"\. Allowed: /,
    );
  });
  test('with many unknown members of long names names ten, shortened', () => {
    const unknown = Object.fromEntries(Array.from({ length: 20 }, (_, n) => [`${n}`.padEnd(200, 'x'), n]));
    const message = errorOf({ name: 'a', ...unknown }).error?.message ?? '';
    expect(message.match(/"\d+x{90,}"/g)?.map((name) => name.length)).toEqual(
      Array.from({ length: 10 }, () => 102),
    );
  });
});

describe('a query', () => {
  const parse = validatorCompiler({
    schema: Type.Object({
      limit: Type.Integer({ minimum: 1, default: 20 }),
      count: Type.Optional(Type.Boolean()),
      q: Type.Optional(Type.String()),
      offset: Type.Optional(Type.Integer()),
      sort: Type.Optional(Type.Enum(['name', 'size'])),
    }),
    method: 'GET',
    url: '/',
    httpPart: 'querystring',
  });

  test.each([
    [{}, { limit: 20 }],
    [{ limit: '5' }, { limit: 5 }],
    [
      { limit: '5', count: 'true', q: '7' },
      { limit: 5, count: true, q: '7' },
    ],
    [{ count: 'false' }, { limit: 20, count: false }],
    [{ offset: '-12' }, { limit: 20, offset: -12 }],
    [{ offset: '1'.repeat(15) }, { limit: 20, offset: 111_111_111_111_111 }],
    [{ other: '1' }, { limit: 20, other: '1' }],
  ])('%j is read as %j', (query, value) => expect(parse(query)).toEqual({ value }));

  test.each([
    [{ limit: '0' }, 'limit'],
    [{ limit: '5x' }, 'limit'],
    [{ limit: 'x5' }, 'limit'],
    [{ limit: '1.5' }, 'limit'],
    [{ limit: '-1' }, 'limit'],
    [{ limit: '1'.repeat(16) }, 'limit'],
    [{ limit: '' }, 'limit'],
    [{ limit: ['1', '2'] }, 'limit'],
    [{ count: 'yes' }, 'count'],
    [{ count: '1' }, 'count'],
  ])('%j is invalid in %s', (query, field) => {
    expect(parse(query)).toMatchObject({ error: { details: { field } } });
  });

  test('with a value that is not listed names the listed ones', () => {
    expect(parse({ sort: 'date' })).toMatchObject({
      error: { details: { field: 'sort', allowed: ['name', 'size'] } },
    });
  });
});
