// Tests that stored secrets open with the right key in the right row only.
import { expect, test } from 'vitest';
import { toSecret } from './secret.ts';
import { openSecret, sealSecret } from './secret-box.ts';

const [first, second] = [toSecret('first root'), toSecret('second root')];
const scope = { roots: [first], purpose: 'webhook-secret', context: 'endpoint-1' } as const;
const box = sealSecret(scope, toSecret('whsec_abc'));

test('a box opens with its root, and hides its content', () => {
  expect(openSecret(scope, box)).toMatchObject({ isCurrent: true });
  expect(openSecret(scope, box)?.secret.reveal()).toBe('whsec_abc');
  expect(box.includes('whsec')).toBe(false);
  expect(sealSecret(scope, toSecret('whsec_abc')).equals(box)).toBe(false);
});

test('during a rotation a box opens with the previous root, and says so', () => {
  const opened = openSecret({ ...scope, roots: [second, first] }, box);
  expect([opened?.secret.reveal(), opened?.isCurrent]).toEqual(['whsec_abc', false]);
});

test('a box does not open with another root, purpose or context, nor altered or cut', () => {
  const altered = Buffer.from(box);
  altered.writeUInt8(altered.readUInt8(30) ^ 1, 30);
  expect([
    openSecret({ ...scope, roots: [second] }, box),
    openSecret({ ...scope, purpose: 'cursor' }, box),
    openSecret({ ...scope, context: 'endpoint-2' }, box),
    openSecret(scope, altered),
    openSecret(scope, box.subarray(0, 20)),
    openSecret({ ...scope, roots: [] }, box),
  ]).toEqual([undefined, undefined, undefined, undefined, undefined, undefined]);
});
