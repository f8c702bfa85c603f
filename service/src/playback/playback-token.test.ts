// Tests that a playback token is valid for one asset, one version and a limited time (contract B5).
import { describe, expect, test } from 'vitest';
import { issueTicket } from '../auth/tickets/asset-ticket.ts';
import { toSecret } from '../auth/secret.ts';
import { isPlaybackToken, issuePlaybackToken, tokenExpiry } from './playback-token.ts';

const now = new Date('2026-01-01T00:00:00Z');
const seconds = now.getTime() / 1000;
const [current, previous, otherSecret] = [
  toSecret('current-secret'),
  toSecret('previous-secret'),
  toSecret('another-secret'),
];
const asset = { id: '01900000-0000-7000-8000-000000000001', playback_version: 3 };
const token = issuePlaybackToken([current, previous], asset, seconds + 10);

const plays = (text: string, played = asset, at = now) =>
  isPlaybackToken([current, previous], played, { token: text, now: at });

test('it plays its asset until its time', () => {
  expect(plays(token)).toBe(true);
  expect(plays(token, asset, new Date((seconds + 9.999) * 1000))).toBe(true);
  expect(plays(token, asset, new Date((seconds + 10) * 1000))).toBe(false);
});

test('it is a path segment', () => {
  expect(token).toMatch(/^[A-Za-z0-9_-]+$/);
});

describe('it plays nothing else', () => {
  test.each([
    ['another asset', { ...asset, id: '01900000-0000-7000-8000-000000000002' }],
    ['a later version', { ...asset, playback_version: 4 }],
    ['an earlier version', { ...asset, playback_version: 2 }],
  ])('%s', (_what, other) => expect(plays(token, other)).toBe(false));

  test.each([
    ['empty', ''],
    ['cut', token.slice(0, -1)],
    ['longer', `${token}A`],
    ['changed', `${token.slice(0, 30)}${token[30] === 'A' ? 'B' : 'A'}${token.slice(31)}`],
    ['padded', `${token}=`],
    ['with another secret', issuePlaybackToken([otherSecret], asset, seconds + 10)],
    ['an upload ticket', issueTicket([current], 'upload', { assetId: asset.id, expires: seconds + 10 })],
    ['a download ticket', issueTicket([current], 'download', { assetId: asset.id, expires: seconds + 10 })],
  ])('by a token that is %s', (_what, text) => expect(plays(text)).toBe(false));
});

test('a token of the secret before is accepted, and new ones are of the current secret', () => {
  expect(plays(issuePlaybackToken([previous], asset, seconds + 10))).toBe(true);
  expect(isPlaybackToken([current], asset, { token, now })).toBe(true);
  expect(isPlaybackToken([previous], asset, { token, now })).toBe(false);
});

test.each([
  ["the settings' time", { duration_ms: 60_000 }, 3600],
  ['twice the length where that is longer', { duration_ms: 2_000_500 }, 4001],
  ["the settings' time while the length is not known", { duration_ms: null }, 3600],
  ['until the asset expires', { expires_at: new Date(now.getTime() + 5998) }, 4],
  ['not at all after the asset has expired', { expires_at: now }, 0],
])('it lives %s', (_what, members, lives) => {
  const played = { duration_ms: 60_000, expires_at: null, ...members };
  expect(tokenExpiry(played, { now: new Date(now.getTime() + 999), ttlSeconds: 3600 })).toBe(seconds + lives);
});
