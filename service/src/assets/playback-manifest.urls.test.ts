// Tests which reported URLs are valid playback URLs (contract B5).
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { TEST_DATA } from '../../../test/support/clips/test-data.ts';
import { isPlaybackUrl, parseReportedUrl } from './playback-manifest.ts';

const BASE = 'https://v.example/';

describe('a playback URL', () => {
  test.each([
    BASE,
    'http://v.example/a.m3u8',
    'https://v.example',
    'HTTPS://V.EXAMPLE/A',
    'https://v.example:8443/a',
    'https://v.example:443/',
    'https://v.example./a',
    'http://127.0.0.1:9000/a',
    'http://[2001:db8::1]/a',
    'http://[::1]:8080/a',
    'http://localhost/a',
    'http://169.254.169.254/latest',
    'https://v.example/a?b=c&d=%20#t=1',
    'https://v.example/@me',
    'https://v.example?a=@b',
    'https://v.example/#@',
    'https://v.example/a:b@c',
    'https://bücher.example/ü',
    'https://例え.jp/動画.m3u8',
    'https://xn--bcher-kva.example/',
    'https://v.example/%0d%0a',
    'https://v.example/🎬',
    'https://v.example//a//b',
    'https://v.example/../a',
    `${BASE}${'a'.repeat(2048 - BASE.length)}`,
  ])('may be %s', (url) => {
    expect(isPlaybackUrl(url)).toBe(true);
    expect(parseReportedUrl(url)).toBe(url);
  });

  const forbidden: Record<string, readonly string[]> = {
    'with a host of other characters': [
      "https://v.example;script-src'unsafe-inline'/a",
      'https://v.example;frame-ancestors*/a',
      'https://v,example/a',
      "https://v'example/a",
      'https://v.example;:8443/a',
    ],
    'of another scheme': [
      'javascript:alert(1)',
      'data:text/html,x',
      'file:///etc/passwd',
      'ftp://v.example/a',
      'blob:https://v.example/a',
      'ws://v.example/',
      'about:blank',
      'httpss://v.example/',
      'view-source:https://v.example/',
    ],
    relative: [
      '',
      '/',
      'a.m3u8',
      '/a.m3u8',
      './a',
      '?a',
      '#a',
      'v.example/a',
      '//v.example/a',
      '///v.example/a',
      '\\\\v.example\\a',
    ],
    'with too few or too many slashes': [
      'https:v.example/a',
      'https:/v.example/a',
      'https:///v.example/a',
      'https:////v.example',
      'http:\\\\v.example\\a',
      'https:/\\v.example/',
    ],
    'with user info': [
      'https://user:pass@v.example/',
      'https://user@v.example/',
      'https://@v.example/',
      'https://:@v.example/',
      'https://:pass@v.example/',
      'https://a@b@v.example/',
      'https://v.example@evil.example/',
      'https://%40@v.example/',
      'https://@@v.example',
      'https://user@v.example?x',
    ],
    'with a backslash': [
      'https://v.example\\a',
      'https://v.example/a\\b',
      'https://v.example\\@evil.example/',
      'https:\\/v.example/',
    ],
    'with a control character or a space': [
      'https://v.example/a b',
      ' https://v.example/',
      'https://v.example/ ',
      'https://v.example/\r\nSet-Cookie: a=b',
      'https://v.example/\n',
      'https://v.\texample/',
      'https://v.example/\t',
      'https://v.example/\0',
      'ht\ntps://v.example/',
      'https://v.example/\x7f',
      'https://v.example/\x85',
      'https://v.example/\xa0',
      '\ufeffhttps://v.example/',
      'https://v.example/\u3000',
      'https://v.example/\u2028',
      'https://v.example/\u2003a',
    ],
    'without a host that can be': [
      'https://',
      'https:// /',
      'https://?a',
      'https://#a',
      'https://v.example:99999/',
      'https://v.example:port/',
      'https://[::1/',
      'https://[zz]/',
      'https://a<b/',
      'https://%00/',
      'https://256.256.256.256/',
      'https://:443/',
    ],
    'with half a character': [
      'https://v.example/\ud800',
      'https://v.example/\udc00a',
      'https://\ud83d.example/',
    ],
    'that is too long': [`${BASE}${'a'.repeat(2049 - BASE.length)}`, `${BASE}${'a'.repeat(1_000_000)}`],
  };
  for (const [why, urls] of Object.entries(forbidden)) {
    test.each(urls.map((url) => [JSON.stringify(url).slice(0, 60), url]))(
      `may not be one ${why}: %s`,
      (_, url) => {
        expect(isPlaybackUrl(url)).toBe(false);
        expect(parseReportedUrl(url)).toEqual({ refused: true });
      },
    );
  }

  test('that is not reported is null, and one that is not text is refused', () => {
    expect([undefined, null].map(parseReportedUrl)).toEqual([null, null]);
    for (const value of [0, 1, true, false, [], [BASE], {}, { hls: BASE }, Symbol.iterator, 1n])
      expect(parseReportedUrl(value)).toEqual({ refused: true });
  });

  test('that is taken is absolute http or https without credentials for every parser', () => {
    const pieces = [
      'https:',
      'http:',
      'javascript:',
      '/',
      '//',
      '\\',
      '@',
      ':',
      '?',
      '#',
      'a',
      'v.example',
      '[::1]',
      '%40',
      '%',
      ' ',
      '\t',
      '\r\n',
      '\u2028',
      '\ud800',
      '🎬',
      '..',
      '8080',
    ];
    const text = fc.oneof(
      fc.array(fc.constantFrom(...pieces), { maxLength: 12 }).map((parts) => parts.join('')),
      fc.string({ unit: 'binary' }),
      fc.webUrl(),
    );
    fc.assert(fc.property(text, expectHarmless), { numRuns: 5_000 });
  });

  test.skipIf(!TEST_DATA)('is held against the collected cases of a URL parser', () => {
    const cases = JSON.parse(
      readFileSync(join(TEST_DATA as string, 'url-cases/url/resources/urltestdata.json'), 'utf8'),
    ) as (string | { input: string })[];
    const inputs = cases.filter((one) => typeof one !== 'string');
    expect(inputs.length).toBeGreaterThan(600);
    for (const { input } of inputs) expectHarmless(input);
    expect(inputs.filter(({ input }) => isPlaybackUrl(input)).length).toBeGreaterThan(50);
  });
});

function expectHarmless(text: string): void {
  if (!isPlaybackUrl(text)) return;
  const { protocol, username, password, host } = new URL(text);
  expect([text, username, password]).toEqual([text, '', '']);
  expect(['http:', 'https:']).toContain(protocol);
  expect(host).not.toBe('');
  expect(text).toMatch(/^https?:\/\/[^\s\\]+$/i);
  expect(Buffer.from(text).toString()).toBe(text);
}
