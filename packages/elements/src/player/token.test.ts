// Tokens in the player: which kind one is, when it ends, and URLs that continue with another one.
import { describe, expect, test } from 'vitest';
import { isAccessToken, readTokenExpiry, renewalDelay, withTokenOf } from './token.ts';

const MAC = Buffer.alloc(16, 0xfb);
const toToken = (payload: string): string => Buffer.concat([MAC, Buffer.from(payload)]).toString('base64url');

describe('a token', () => {
  test('is one of a user if it has the three parts of a JWT', () => {
    expect(isAccessToken('eyJhbGciOiJIUzI1NiJ9.eyJ1c2VyX2lkIjoxfQ.c2ln')).toBe(true);
    expect(isAccessToken(toToken('1795422000:1:id'))).toBe(false);
  });

  test('of playback ends when it says', () => {
    expect(readTokenExpiry(toToken('1795422000:3:019aab7c'))).toBe(1_795_422_000_000);
  });

  test.each(['', 'a', '%%%', toToken('later:1:id'), toToken('')])('%j has no known end', (token) => {
    expect(readTokenExpiry(token)).toBeUndefined();
  });
});

describe('the renewal', () => {
  test('comes a minute before the end, and at half of a short life', () => {
    expect(renewalDelay(600_000, 0)).toBe(540_000);
    expect(renewalDelay(60_000, 0)).toBe(30_000);
  });

  test('does not come by time for a token that looks ended, and never sooner than after ten seconds', () => {
    expect(renewalDelay(0, 0)).toBeUndefined();
    expect(renewalDelay(0, 60_000)).toBeUndefined();
    expect(renewalDelay(1, 0)).toBe(10_000);
    expect(renewalDelay(12_000, 0)).toBe(10_000);
  });

  test('fits into a timer when the end is far', () => {
    expect(renewalDelay(1e15, 0)).toBe(2 ** 31 - 1);
  });
});

describe('a URL with the token of the current manifest', () => {
  const current = 'https://media.example.com/api/v1/playback/1/~new/hls.m3u8?v=2';

  test.each([
    ['1-1/r0.m3u8', '1-1/r0.m3u8'],
    ['1-1/abc/r0.key?x=1', '1-1/abc/r0.key?x=1'],
  ])('is that of the file %s', (path, expected) => {
    const base = 'https://media.example.com/api/v1/playback/1/';
    expect(withTokenOf(current, `${base}~old/${path}`)).toBe(`${base}~new/${expected}`);
  });

  test.each([
    'https://media.example.com/api/v1/playback/2/~old/hls.m3u8',
    'https://cdn.example.com/api/v1/playback/1/~old/hls.m3u8',
    'https://store.example.com/bucket/r0-00001.m4s?signature=~a/b',
  ])('stays as it is elsewhere: %s', (url) => {
    expect(withTokenOf(current, url)).toBe(url);
    expect(withTokenOf('https://media.example.com/a.m3u8', url)).toBe(url);
  });
});
