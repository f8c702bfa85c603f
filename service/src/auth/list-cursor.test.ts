// A cursor opens the list that issued it, and no other (contract B3).
import { expect, test } from 'vitest';
import { createCursor, readCursor } from './list-cursor.ts';
import { toSecret } from './secret.ts';

const SECRETS = [toSecret('a signing secret of this test 0123456789')];
const ID = '019aab7c-4d2e-7c55-9f0e-6d1f2b3c4d5e';
const SCOPE = { list: 'assets', owner: 'ann', kind: 'video', sort: '-created_at' };
const invalid = expect.objectContaining({
  code: 'BAD_REQUEST',
  message: expect.stringMatching(/^Invalid cursor\. Send the next_cursor /),
  details: { field: 'cursor', reason: 'invalid_cursor' },
});

test('a cursor gives back its id, however the scope is written', () => {
  const cursor = createCursor(SECRETS, SCOPE, ID);
  expect(readCursor(SECRETS, SCOPE, cursor)).toBe(ID);
  const { list, ...rest } = SCOPE;
  expect(readCursor(SECRETS, { ...rest, tag: undefined, list }, cursor)).toBe(ID);
});

test.each([
  ['another owner', { ...SCOPE, owner: 'eve' }],
  ['another filter', { ...SCOPE, kind: 'image' }],
  ['one filter more', { ...SCOPE, tag: 'launch' }],
  ['one filter less', { ...SCOPE, kind: undefined }],
  ['another sort', { ...SCOPE, sort: 'created_at' }],
  ['another list', { ...SCOPE, list: 'deliveries' }],
])('a cursor is invalid with %s', (_what, scope) => {
  expect(() => readCursor(SECRETS, scope, createCursor(SECRETS, SCOPE, ID))).toThrow(invalid);
});

test('a cursor survives the rotation of the secret, and not its removal', () => {
  const cursor = createCursor(SECRETS, SCOPE, ID);
  const next = toSecret('the next signing secret of this test 01234');
  expect(readCursor([next, ...SECRETS], SCOPE, cursor)).toBe(ID);
  expect(() => readCursor([next], SCOPE, cursor)).toThrow(invalid);
});

test.each(['', 'x', ID])('%j is no cursor', (cursor) => {
  expect(() => readCursor(SECRETS, SCOPE, cursor)).toThrow(invalid);
});

test('a signed position that is no id is no cursor', () => {
  expect(() => readCursor(SECRETS, SCOPE, createCursor(SECRETS, SCOPE, '42'))).toThrow(invalid);
});

test('a cursor stays short, however many filters the list has', () => {
  const filters = Object.fromEntries(Array.from({ length: 50 }, (_, n) => [`filter${n}`, 'x'.repeat(100)]));
  expect(createCursor(SECRETS, { ...SCOPE, ...filters }, ID)).toHaveLength(92);
});

test('a cursor is not created without a secret', () => {
  expect(() => createCursor([], SCOPE, ID)).toThrow('no URL signing secret');
});
