// Tests what browsers and CDNs may keep, and for how long (contract B5).
import { describe, expect, test } from 'vitest';
import type { PlaybackAsset } from '../assets/asset.ts';
import { toSecret } from '../auth/secret.ts';
import { createVideo, NOW } from '../lifecycle/asset.fixture.ts';
import { buildCacheHeaders, growingCaching, redirectCaching } from './cache-headers.ts';
import { issuePlaybackToken } from './playback-token.ts';

const asset = createVideo({ playback: { kind: 'own', attempt: 1, folder: '1-1' } });
const urlSecrets = [toSecret('cache-headers-secret-0123456789abcdef')];
const NOW_S = NOW.getTime() / 1000;
const tokenFor = (seconds: number) => issuePlaybackToken(urlSecrets, asset, NOW_S + seconds);

const headersOf = (
  visibility: PlaybackAsset['visibility'],
  { token, isEntry = false }: { token?: string; isEntry?: boolean },
  cdnMaxAge = { publicSeconds: 86_400, privateSeconds: 600 },
) =>
  buildCacheHeaders(
    { urlSecrets, now: () => NOW, cdnMaxAge },
    { ...asset, visibility },
    { isEntry, isSegment: !isEntry, token },
  );

test('all files of an asset have its id as a tag', () => {
  for (const isEntry of [true, false])
    expect(headersOf('public', { isEntry })).toMatchObject({
      'cache-tag': asset.id,
      'surrogate-key': asset.id,
    });
});

test('the CDN of the operator keeps segments, those of a private asset until the token expires', () => {
  expect(headersOf('public', {})['cdn-cache-control']).toBe('max-age=86400');
  expect(headersOf('private', { token: tokenFor(1000) })['cdn-cache-control']).toBe('max-age=600');
  expect(headersOf('private', { token: tokenFor(60) })['cdn-cache-control']).toBe('max-age=60');
});

test.each(['public', 'private'] as const)(
  'it keeps segments of a %s asset until that expires',
  (visibility) => {
    const expiring = { ...asset, visibility, expires_at: new Date(NOW.getTime() + 30_000) };
    const rules = { urlSecrets, now: () => NOW, cdnMaxAge: { publicSeconds: 86_400, privateSeconds: 600 } };
    const file = { isEntry: false, isSegment: true, token: tokenFor(1000) };
    expect(buildCacheHeaders(rules, expiring, file)['cdn-cache-control']).toBe('max-age=30');
  },
);

test('it keeps no manifests, nothing that a cookie opens, and nothing without the settings', () => {
  const none = { publicSeconds: 0, privateSeconds: 0 };
  for (const headers of [
    headersOf('public', { isEntry: true }),
    headersOf('private', { token: tokenFor(1000), isEntry: true }),
    headersOf('private', {}),
    headersOf('public', {}, none),
    headersOf('private', { token: tokenFor(1000) }, none),
  ])
    expect(headers['cdn-cache-control']).toBeUndefined();
});

test('nobody keeps what access rules limit', () => {
  const rules = { urlSecrets, now: () => NOW, cdnMaxAge: { publicSeconds: 86_400, privateSeconds: 600 } };
  const ruled = { ...asset, visibility: 'public' as const, access: { countries: ['DE'] } };
  const headers = buildCacheHeaders(rules, ruled, { isEntry: false, isSegment: true, token: undefined });
  expect(headers).toEqual({
    'cache-control': 'private, no-cache',
    'cache-tag': asset.id,
    'surrogate-key': asset.id,
  });
});

test('the browser asks again for what a cookie opens', () => {
  expect(headersOf('private', {})['cache-control']).toBe('private, no-cache');
  expect(headersOf('private', { token: tokenFor(60) })['cache-control']).toMatch(/^private, max-age=/);
  expect(headersOf('public', {})['cache-control']).toMatch(/^public, max-age=/);
});

describe('a redirect to the store', () => {
  const shown = { ...asset, visibility: 'public' } as const;

  test.each([
    [600, 'private, max-age=300', 'private, max-age=10'],
    [100, 'private, max-age=50', 'private, max-age=10'],
    [12, 'private, max-age=6', 'private, max-age=6'],
    [-5, 'private, max-age=0', 'private, max-age=0'],
  ])('to a URL valid for %d s may be used for half of that, of an MP4 for 10 s', (seconds, ...expected) => {
    const expiresAt = new Date(NOW.getTime() + seconds * 1000);
    const viewed = { asset: shown, token: undefined };
    expect([false, true].map((isEntry) => redirectCaching(viewed, { isEntry, expiresAt, now: NOW }))).toEqual(
      expected,
    );
  });
});

test('redirects and growing manifests are not kept where a cookie opens them or rules limit them', () => {
  const times = { isEntry: false, expiresAt: new Date(NOW.getTime() + 600_000), now: NOW };
  const of = (
    visibility: PlaybackAsset['visibility'],
    token?: string,
    access: PlaybackAsset['access'] = null,
  ) => {
    const viewed = { asset: { ...asset, visibility, access }, token };
    return [redirectCaching(viewed, times), growingCaching(viewed)];
  };
  const checked = ['private, no-cache', 'private, no-cache'];
  expect(of('private')).toEqual(checked);
  expect(of('public', undefined, { countries: ['DE'] })).toEqual(checked);
  expect(of('private', tokenFor(60))).toEqual(['private, max-age=300', 'private, max-age=1']);
  expect(of('public')).toEqual(['private, max-age=300', 'public, max-age=1']);
});
