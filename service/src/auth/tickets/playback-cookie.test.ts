// Tests the attributes of the playback cookie, and how it is found among others.
import { expect, test } from 'vitest';
import { formatPlaybackCookie, readPlaybackCookie } from './playback-cookie.ts';

const cookieAt = (url: string) => formatPlaybackCookie({ token: 'abc_-1', url, maxAgeSeconds: 60 });

test('it belongs to one path, and is secure where the service is', () => {
  expect(cookieAt('http://127.0.0.1:8080/api/v1/playback/a/')).toBe(
    'mediary_playback=abc_-1; Path=/api/v1/playback/a/; Max-Age=60; HttpOnly; SameSite=Lax',
  );
  expect(cookieAt('https://media.example.com/below/api/v1/playback/a/')).toBe(
    'mediary_playback=abc_-1; Path=/below/api/v1/playback/a/; Max-Age=60; HttpOnly; Secure; SameSite=Lax',
  );
});

test.each([
  [undefined, undefined],
  ['', undefined],
  ['other=1', undefined],
  ['mediary_playback=', undefined],
  ['mediary_playback=a b', undefined],
  ['not_mediary_playback=abc', undefined],
  ['mediary_playback=abc', 'abc'],
  ['session=1; mediary_playback=abc_-1;theme=dark', 'abc_-1'],
])('%s contains %s', (header, token) => {
  expect(readPlaybackCookie(header)).toBe(token);
});
