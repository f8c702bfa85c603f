// Tests when the response of a segment is used again, and what ends that.
import { randomBytes } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import type { PlaybackAsset } from '../assets/asset.ts';
import { toSecret } from '../auth/secret.ts';
import { createVideo } from '../lifecycle/asset.fixture.ts';
import { type ObjectKey, renditionKey } from '../storage/object-key.ts';
import { issuePlaybackToken } from './playback-token.ts';
import { createSegmentResponseCache } from './segment-response-cache.ts';

const URL_SECRETS = [toSecret('the-url-secret')];
const BYTES = randomBytes(1000);
const NOW = Date.parse('2026-01-01T00:00:00Z');
const SENT = { 'content-type': 'video/iso.segment', 'content-length': 1000, etag: '"a"' };

function open({ visibility = 'private', access = null }: Partial<PlaybackAsset> = {}) {
  const asset: PlaybackAsset = createVideo({ visibility, access });
  const key = renditionKey(asset.id, '1-1', 'r0-00001.m4s');
  const state = { now: NOW, current: asset, inMemory: new Set<ObjectKey>([key]) };
  const segments = createSegmentResponseCache({
    isCurrentAsset: (seen) => seen === state.current,
    findCachedObject: (name) =>
      state.inMemory.has(name) ? { sizeBytes: BYTES.length, bytes: BYTES } : undefined,
    urlSecrets: URL_SECRETS,
    now: () => new Date(state.now),
  });
  const token =
    visibility === 'private' ? issuePlaybackToken(URL_SECRETS, asset, NOW / 1000 + 60) : undefined;
  return { asset, key, state, segments, token, url: `/api/v1/playback/${asset.id}/~token/1-1/r0-00001.m4s` };
}

const asked = (url: string, { address = '192.0.2.1', isForwarded = false } = {}) => ({
  url,
  address,
  isForwarded,
});
const sent = (url: string, { status = 200, headers = SENT as object, address = '192.0.2.1' } = {}) => ({
  url,
  address,
  status,
  headers: { ...headers, 'x-request-id': 'the first one' },
});

type Uncached = {
  readonly given?: object;
  readonly reply?: { readonly status: number };
  readonly search?: string;
};

describe('a segment in memory', () => {
  test('is sent again with the same headers, but not with the request id', () => {
    const { segments, asset, token, key, url } = open();
    expect(segments.find(asked(url))).toBeUndefined();
    segments.add({ ...sent(url), asset, token, key });
    expect(segments.find(asked(url))).toEqual({
      headers: ['content-type', 'video/iso.segment', 'content-length', '1000', 'etag', '"a"'],
      body: BYTES,
    });
    expect(segments.find(asked(`${url}x`))).toBeUndefined();
  });

  test('is not sent again once the asset may have changed', () => {
    const { segments, asset, token, key, url, state } = open();
    segments.add({ ...sent(url), asset, token, key });
    state.current = { ...asset };
    expect(segments.find(asked(url))).toBeUndefined();
  });

  test('is not sent again after its token has expired', () => {
    const { segments, asset, token, key, url, state } = open();
    segments.add({ ...sent(url), asset, token, key });
    state.now = NOW + 59_999;
    expect(segments.find(asked(url))).toBeDefined();
    state.now = NOW + 60_000;
    expect(segments.find(asked(url))).toBeUndefined();
  });

  test('is not sent again after others took its place in memory', () => {
    const { segments, asset, token, key, url, state } = open();
    segments.add({ ...sent(url), asset, token, key });
    state.inMemory.clear();
    expect(segments.find(asked(url))).toBeUndefined();
  });

  test('of a public asset needs no token', () => {
    const { segments, asset, key, url } = open({ visibility: 'public' });
    segments.add({ ...sent(url), asset, token: undefined, key });
    expect(segments.find(asked(url))).toBeDefined();
  });

  test('with access rules for viewers is never cached', () => {
    const { segments, asset, token, key, url } = open({ access: { countries: ['DE'] } });
    segments.add({ ...sent(url), asset, token, key });
    expect(segments.find(asked(url))).toBeUndefined();
  });

  test.each<[string, Uncached]>([
    ['a cookie opened it', { given: { token: undefined } }],
    ['it is a part or an error', { reply: { status: 206 } }],
    ['the URL has a query', { search: '?download' }],
    ['it is not in memory', { given: { key: renditionKey(createVideo().id, '1-1', 'r1-00001.m4s') } }],
  ])('is not cached if %s', (_why, { given = {}, reply = {}, search = '' }) => {
    const { segments, asset, token, key, url } = open();
    segments.add({ ...sent(url + search, reply), asset, token, key, ...given });
    expect(segments.find(asked(url + search))).toBeUndefined();
  });
});

describe('a segment that the web server sends', () => {
  const proxied = { address: '127.0.0.1', isForwarded: true };
  const accel = { headers: { 'x-accel-redirect': '/_mediary/a.m4s' }, address: '127.0.0.1' };

  test('is allowed again without a body', () => {
    const { segments, asset, token, url } = open();
    segments.add({ ...sent(url, accel), asset, token });
    expect(segments.find(asked(url, proxied))).toEqual({
      headers: ['x-accel-redirect', '/_mediary/a.m4s', 'content-length', '0'],
      body: '',
    });
  });

  test.each([
    ['from another address', { ...proxied, address: '192.0.2.9' }],
    ['that did not pass it', { address: '127.0.0.1' }],
  ])('its path is not shown to a request %s', (_which, other) => {
    const { segments, asset, token, url } = open();
    segments.add({ ...sent(url, accel), asset, token });
    expect(segments.find(asked(url, other))).toBeUndefined();
  });
});

test('the URL that was cached first makes room', () => {
  const { segments, asset, token, key, url } = open();
  for (let n = 0; n <= 2000; n++) segments.add({ ...sent(`${url}${n}`), asset, token, key });
  expect(segments.find(asked(`${url}0`))).toBeUndefined();
  expect(segments.find(asked(`${url}2000`))).toBeDefined();
});
