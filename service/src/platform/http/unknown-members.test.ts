// Tests which members and parameters count as unknown, and when they are refused.
import { Type } from 'typebox';
import { expect, test } from 'vitest';
import { findIgnoredMembers } from './unknown-members.ts';

const query = Type.Object({ limit: Type.Optional(Type.Integer()) });
const body = Type.Object({
  title: Type.String(),
  metadata: Type.Optional(Type.Object({}, { additionalProperties: true })),
  parts: Type.Optional(Type.Array(Type.Object({ size: Type.Integer() }))),
});

const find = (
  given: { query?: object; body?: unknown },
  { method = 'POST', prefer }: { method?: string; prefer?: string } = {},
) =>
  findIgnoredMembers(
    { method, query: given.query ?? {}, body: given.body, headers: prefer ? { prefer } : {} },
    { query, body },
  );

test.each([
  [{}, undefined],
  [
    { query: { limit: 1 }, body: { title: 'a', metadata: { any: { depth: 1 } }, parts: [{ size: 1 }] } },
    undefined,
  ],
  [{ query: { owner_user_id: 'ann' } }, undefined],
  [{ query: { stats: 'ready' } }, 'stats'],
  [{ query: { stats: 'ready' }, body: { titel: 'a' } }, 'stats, titel'],
  [{ body: { parts: [{ size: 1 }, { size: 1, sise: 2 }] } }, 'parts.1.sise'],
  [{ body: { 'a, b\r\n': 1, ü: 1, '\ud800': 1 } }, 'a%2C%20b%0D%0A, %C3%BC, %EF%BF%BD'],
  [{ body: JSON.parse('{"__proto__": 1, "constructor": 2}') as object }, '__proto__, constructor'],
  [{ body: null }, undefined],
])('of %j, %j is ignored', (given, names) => expect(find(given)).toBe(names));

test('at most ten names of 100 characters are listed', () => {
  const many = Object.fromEntries(Array.from({ length: 20 }, (_, n) => [`${n}`.padEnd(200, 'x'), n]));
  const names = find({ body: many })?.split(', ') ?? [];
  expect(names.map(({ length }) => length)).toEqual(Array(10).fill(100));
});

test.each([
  [{ method: 'PATCH' }],
  [{ prefer: 'handling=strict' }],
  [{ prefer: 'wait=10, Handling = "strict"; x=1' }],
])('%j refuses and names them', (options) => {
  expect(() => find({ query: { stats: '1' }, body: { titel: 'a' } }, options)).toThrow(
    expect.objectContaining({
      code: 'BAD_REQUEST',
      message:
        'Unknown parameter "stats". Allowed: limit; Unknown member "titel". Allowed: title, metadata, parts',
      details: expect.objectContaining({
        field: 'stats',
        reason: 'unknown_member',
        errors: [
          expect.objectContaining({ field: 'stats', allowed: ['limit'] }),
          expect.objectContaining({ field: 'titel', allowed: ['title', 'metadata', 'parts'] }),
        ],
      }),
    }),
  );
});

test.each(['handling=lenient', 'handling=strictly', 'nohandling=strict', 'return=minimal'])(
  'the preference %s does not',
  (prefer) => expect(find({ body: { titel: 'a' } }, { prefer })).toBe('titel'),
);
