// Tests which URLs and addresses outbound requests may reach (SSRF).
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { addressOf, isAllowedAddress, parseOutboundUrl, parseRedirect } from './address-policy.ts';

const PUBLIC_ONLY = { allowPrivate: false };
const WITH_PRIVATE = { allowPrivate: true };
const refusalOf = (text: string, policy = PUBLIC_ONLY) => {
  const parsed = parseOutboundUrl(text, policy);
  return 'refused' in parsed ? parsed.refused : undefined;
};

describe('a URL', () => {
  test.each([
    'http://media.example.com/a.mp4',
    'https://media.example.com:8443/a b?x=1#f',
    'HTTPS://MEDIA.EXAMPLE.COM',
    'http://1.1.1.1/',
    'http://[2606:4700::1111]:8080/',
    'https://bücher.example/',
  ])('%s may be requested', (url) => expect(refusalOf(url)).toBeUndefined());

  test.each([
    ['', 'invalid_url'],
    ['media.example.com/a.mp4', 'invalid_url'],
    ['//media.example.com/a.mp4', 'invalid_url'],
    ['http://', 'invalid_url'],
    ['http://a b/', 'invalid_url'],
    ['http://media.example.com/\r\nX: 1', 'invalid_url'],
    ['http://media.example.com/\u0000', 'invalid_url'],
    [`http://media.example.com/${'a'.repeat(8192)}`, 'invalid_url'],
    ['http://[fe80::1%25eth0]/', 'invalid_url'],
    ['http://[fe80::1%eth0]/', 'invalid_url'],
    ['http://256.1.1.1/', 'invalid_url'],
    ['ftp://media.example.com/', 'scheme'],
    ['file:///etc/passwd', 'scheme'],
    ['data:video/mp4;base64,AAAA', 'scheme'],
    ['javascript:alert(1)', 'scheme'],
    ['gopher://127.0.0.1:6379/_x', 'scheme'],
    ['ws://media.example.com/', 'scheme'],
    ['http://user@media.example.com/', 'credentials'],
    ['http://user:password@media.example.com/', 'credentials'],
    ['http://1.1.1.1@127.0.0.1/', 'credentials'],
    ['http://media.example.com:25/', 'port'],
    ['https://media.example.com:22/', 'port'],
    ['http://media.example.com:6667/', 'port'],
    ['http://media.example.com:0/', 'port'],
  ])('%j is refused: %s', (url, refusal) => {
    expect(refusalOf(url)).toBe(refusal);
    expect(refusalOf(url, WITH_PRIVATE)).toBe(refusal);
  });

  test.each([
    'http://127.0.0.1/',
    'http://127.1/',
    'http://2130706433/',
    'http://017700000001/',
    'http://0177.0.0.1/',
    'http://0x7f000001/',
    'http://0x7f.0.0.1/',
    'http://127.0.0.1./',
    'http://%31%32%37.0.0.1/',
    'http://１２７.0.0.1/',
    'http://127。0。0。1/',
    'http://①②⑦.0.0.1/',
    'http:/127.0.0.1/',
    'http:\\\\127.0.0.1\\',
    'http://10.0.0.1:8080/',
    'http://[::1]/',
    'http://[0:0:0:0:0:0:0:1]/',
    'http://[fd00::1]/',
  ])('%s reaches private addresses: only where they are allowed', (url) => {
    expect(refusalOf(url)).toBe('private_address');
    expect(refusalOf(url, WITH_PRIVATE)).toBeUndefined();
  });

  test.each([
    'http://169.254.169.254/latest/meta-data/',
    'http://2852039166/',
    'http://0xa9fea9fe/',
    'http://0251.0376.0251.0376/',
    'http://0/',
    'http://0.0.0.0/',
    'http://[::]/',
    'http://[::ffff:169.254.169.254]/',
    'http://[::ffff:127.0.0.1]/',
    'http://[64:ff9b::a9fe:a9fe]/',
    'http://[2002:a9fe:a9fe::]/',
    'http://[fe80::1]/',
    'http://[fd00:ec2::254]/',
    'http://100.100.100.200/',
    'http://224.0.0.1/',
    'http://255.255.255.255/',
  ])('%s is refused even where private addresses are allowed', (url) => {
    expect(refusalOf(url)).toBe('private_address');
    expect(refusalOf(url, WITH_PRIVATE)).toBe('private_address');
  });

  test('every notation of an address means the same', () => {
    const notations = [
      (address: number) => String(address),
      (address: number) => `0x${address.toString(16)}`,
      (address: number) => `0${address.toString(8)}`,
      (address: number) => `${address >>> 24}.${address & 0xff_ffff}`,
    ];
    fc.assert(
      fc.property(fc.nat(0xffff_ffff), (address) => {
        const dotted = [24, 16, 8, 0].map((shift) => (address >>> shift) & 0xff).join('.');
        const isRefused = !isAllowedAddress(dotted, PUBLIC_ONLY);
        for (const write of notations)
          expect(refusalOf(`http://${write(address)}/`)).toBe(isRefused ? 'private_address' : undefined);
      }),
    );
  });

  test('any text is either refused or an http URL of a name or a public address', () => {
    fc.assert(
      fc.property(fc.constantFrom('', 'http://', 'https:'), fc.string({ unit: 'binary' }), (start, text) => {
        const parsed = parseOutboundUrl(start + text, PUBLIC_ONLY);
        if ('refused' in parsed) return;
        expect(parsed.url.protocol).toMatch(/^https?:$/);
        const address = addressOf(parsed.url);
        expect(address === undefined || isAllowedAddress(address, PUBLIC_ONLY)).toBe(true);
      }),
    );
  });
});

describe('a redirect', () => {
  const from = (url: string, location: string) =>
    parseRedirect(location, { from: new URL(url), policy: PUBLIC_ONLY });

  test.each([
    ['/b', 'https://a.example/b'],
    ['b', 'https://a.example/x/b'],
    ['?q', 'https://a.example/x/y?q'],
    ['//b.example/', 'https://b.example/'],
    ['https://b.example', 'https://b.example/'],
  ])('to %s is resolved to %s', (location, expected) =>
    expect(from('https://a.example/x/y', location)).toEqual({ url: new URL(expected) }),
  );

  test.each([
    ['http://a.example/', 'downgrade'],
    ['http://169.254.169.254/', 'private_address'],
    ['https://127.0.0.1/', 'private_address'],
    ['file:///etc/passwd', 'scheme'],
    ['https://u:p@b.example/', 'credentials'],
    ['https://b.example:25/', 'port'],
    ['https://', 'invalid_url'],
  ])('to %s is refused: %s', (location, refused) =>
    expect(from('https://a.example/', location)).toEqual({ refused }),
  );

  test('may change from http to https', () => {
    expect(from('http://a.example/', 'https://a.example/')).toEqual({ url: new URL('https://a.example/') });
    expect(from('http://a.example/', '/b')).toEqual({ url: new URL('http://a.example/b') });
  });
});
