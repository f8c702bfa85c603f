// Tests that ids are valid UUIDv7 (RFC 9562) and sort in the order of their creation, even when the clock
// steps back a little.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { firstIdOf, isUuid, timeOf } from './uuid.ts';
import { MAX_STEP_BACK_MS, uuidV7 } from './uuid-v7.ts';

const V7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

test('each id is greater than the previous one, even when the clock steps back a little', () => {
  const clock = fc.array(fc.oneof(fc.nat({ max: 5 }), fc.integer({ min: -5000, max: 5000 })), {
    minLength: 2,
    maxLength: 200,
  });
  let latest = Date.now();
  fc.assert(
    fc.property(clock, (steps) => {
      let now = latest;
      const ids = steps.map((step) => {
        now = Math.max(now + step, latest - MAX_STEP_BACK_MS / 2);
        latest = Math.max(latest, now);
        return uuidV7(now);
      });
      expect(ids).toEqual([...new Set(ids)].sort());
      expect(ids.every((id) => V7.test(id))).toBe(true);
    }),
  );
});

test('a clock that was far ahead does not leave its time in later ids', () => {
  const now = Date.now() + 60 * 86_400_000;
  uuidV7(now);
  const before = now - MAX_STEP_BACK_MS - 1;
  expect(timeOf(uuidV7(before)).getTime()).toBe(before);
});

test('10,000 ids of one millisecond are in order', () => {
  const now = Date.now() + 10_000_000;
  const ids = Array.from({ length: 10_000 }, () => uuidV7(now));
  expect(ids).toEqual([...new Set(ids)].sort());
});

test('ids of one millisecond contain it', () => {
  const now = Date.now() + 15_000_000;
  for (let count = 0; count < 100; count++) expect(timeOf(uuidV7(now)).getTime()).toBe(now);
});

test('the last 12 digits of ids differ', () => {
  const ids = Array.from({ length: 1000 }, () => uuidV7());
  expect(new Set(ids.map((id) => id.slice(-12))).size).toBe(1000);
});

test('an id contains its creation time and is not below the first id of its millisecond', () => {
  const now = Date.now() + 20_000_000;
  const id = uuidV7(now);
  expect(timeOf(id).getTime()).toBe(now);
  expect(firstIdOf(now) <= id && id < firstIdOf(now + 1)).toBe(true);
  expect(isUuid(firstIdOf(now))).toBe(true);
});

test.each([-1, 0, Number.MAX_SAFE_INTEGER, 1.7])('the first id of %d is a UUID too', (ms) => {
  expect(isUuid(firstIdOf(ms))).toBe(true);
});

describe('a UUID is 8-4-4-4-12 hex digits in either case', () => {
  test.each([
    '01900000-0000-7000-8000-00000000000a',
    '01900000-0000-7000-8000-00000000000A',
    '00000000-0000-0000-0000-000000000000',
    'ffffffff-ffff-ffff-ffff-ffffffffffff',
  ])('%s', (text) => expect(isUuid(text)).toBe(true));

  test.each([
    '',
    '01900000000070008000000000000001',
    '{01900000-0000-7000-8000-000000000001}',
    'urn:uuid:01900000-0000-7000-8000-000000000001',
    '01900000-0000-7000-8000-00000000000',
    '01900000-0000-7000-8000-0000000000011',
    'g1900000-0000-7000-8000-000000000001',
    '01900000-0000-7000-8000-000000000001\n',
    ' 01900000-0000-7000-8000-000000000001',
  ])('not %j', (text) => expect(isUuid(text)).toBe(false));
});
