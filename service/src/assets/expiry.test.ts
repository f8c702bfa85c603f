// Tests which times of expiry are accepted, and how they limit tokens and caches (contract B1, B5).
import { expect, test } from 'vitest';
import { isExpired, limitMaxAge, limitSeconds, parseExpiry } from './expiry.ts';

const NOW = new Date('2026-03-01T12:00:00.000Z');
const inSeconds = (seconds: number) => ({ expires_at: new Date(NOW.getTime() + seconds * 1000) });
const NEVER = { expires_at: null };

test('a time in the future is accepted in every zone; null and nothing mean never', () => {
  expect(parseExpiry('2026-03-01T13:30:00.5+01:00', NOW)).toEqual(new Date('2026-03-01T12:30:00.500Z'));
  expect(parseExpiry('2126-03-01T12:00:00Z', NOW)).toEqual(new Date('2126-03-01T12:00:00Z'));
  expect([parseExpiry(null, NOW), parseExpiry(undefined, NOW)]).toEqual([null, null]);
});

test.each([
  ['the present', '2026-03-01T12:00:00Z', 'below_minimum', '2026-03-01T12:00:00.000Z'],
  ['a time beyond 100 years', '2126-03-01T12:00:01Z', 'above_maximum', '2126-03-01T12:00:00.000Z'],
])('%s is refused with the limit', (_what, ...[text, reason, limit]) =>
  expect(() => parseExpiry(text, NOW)).toThrow(
    expect.objectContaining({ code: 'BAD_REQUEST', details: { field: 'expires_at', reason, limit } }),
  ),
);

test.each(['2027-02-29T00:00:00Z', '2027-01-01T25:00:00Z', 'soon'])('%s is no time', (text) =>
  expect(() => parseExpiry(text, NOW)).toThrow(expect.objectContaining({ details: { field: 'expires_at' } })),
);

test('an asset has expired from its time on', () => {
  expect([1, 0, -1].map((seconds) => isExpired(inSeconds(seconds), NOW))).toEqual([false, true, true]);
  expect(isExpired(NEVER, NOW)).toBe(false);
});

test('nothing lasts longer than the asset', () => {
  expect([7200, 60.9, -5].map((seconds) => limitSeconds(3600, inSeconds(seconds), NOW))).toEqual([
    3600, 60, 0,
  ]);
  expect(limitSeconds(3600, NEVER, NOW)).toBe(3600);
  const header = 'public, max-age=31536000, s-maxage=3600, immutable';
  expect(limitMaxAge(header, inSeconds(7200), NOW)).toBe('public, max-age=7200, s-maxage=3600, immutable');
  expect(limitMaxAge(header, inSeconds(5), NOW)).toBe('public, max-age=5, s-maxage=5, immutable');
  expect(limitMaxAge(header, NEVER, NOW)).toBe(header);
  expect(limitMaxAge('private, no-cache', inSeconds(5), NOW)).toBe('private, no-cache');
});
