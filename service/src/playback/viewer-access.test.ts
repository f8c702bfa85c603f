// Tests which viewers the access rules of an asset allow, one rule beside the other.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { AccessRules } from '@mediary/contract/schemas/assets/access-rules';
import { assertViewerAllowed, findDenial, toFrameAncestors, type Viewer } from './viewer-access.ts';

const OWN = 'media.example.net';
const VIEWER: Viewer = { sites: ['www.example.com'], address: '203.0.113.7', country: 'DE' };

const SITES = { referrers: ['www.example.com', '*.example.org', 'localhost:3000'] };
const NETWORKS = { networks: ['203.0.113.0/24', '198.51.100.7/32', '2001:db8::/32'] };
const COUNTRIES = { countries: ['DE', 'AT'] };

type Case = readonly [why: string, access: AccessRules, viewer: Partial<Viewer>, denial: string | undefined];
const CASES: readonly Case[] = [
  ['rules without lists', { downloads: false }, { sites: [], country: undefined }, undefined],
  ['the site', SITES, {}, undefined],
  ['a site in Origin and Referer', SITES, { sites: ['www.example.com', 'www.example.com'] }, undefined],
  ['the port of a site', SITES, { sites: ['localhost:3000'] }, undefined],
  ['a subdomain', SITES, { sites: ['a.b.example.org'] }, undefined],
  ['the service itself', SITES, { sites: [OWN] }, undefined],
  ['another site', SITES, { sites: ['evil.example'] }, 'referrer_not_allowed'],
  ['another port', SITES, { sites: ['localhost:3001'] }, 'referrer_not_allowed'],
  ['a site with a port', SITES, { sites: ['www.example.com:8443'] }, 'referrer_not_allowed'],
  ['the domain itself of a wildcard', SITES, { sites: ['example.org'] }, 'referrer_not_allowed'],
  ['a name that ends alike', SITES, { sites: ['badexample.org'] }, 'referrer_not_allowed'],
  ['an allowed name in front', SITES, { sites: ['www.example.com.evil.example'] }, 'referrer_not_allowed'],
  ['a wildcard without a name', SITES, { sites: ['.example.org'] }, 'referrer_not_allowed'],
  ['an allowed Origin alone', SITES, { sites: ['www.example.com', 'evil.example'] }, 'referrer_not_allowed'],
  ['the service in Referer alone', SITES, { sites: ['evil.example', OWN] }, 'referrer_not_allowed'],
  ['no site', SITES, { sites: [] }, 'referrer_not_allowed'],
  ['no site, allowed', { ...SITES, allow_no_referrer: true }, { sites: [] }, undefined],
  ['an opaque origin', { ...SITES, allow_no_referrer: true }, { sites: [''] }, 'referrer_not_allowed'],
  [
    'another site, beside none',
    { ...SITES, allow_no_referrer: true },
    { sites: ['x.y'] },
    'referrer_not_allowed',
  ],
  ['the network', NETWORKS, {}, undefined],
  ['an address', NETWORKS, { address: '198.51.100.7' }, undefined],
  ['IPv6', NETWORKS, { address: '2001:db8:1::1' }, undefined],
  ['IPv4 of a listener for both', NETWORKS, { address: '::ffff:203.0.113.9' }, undefined],
  ['the next address', NETWORKS, { address: '198.51.100.8' }, 'network_not_allowed'],
  ['another network', NETWORKS, { address: '203.0.114.1' }, 'network_not_allowed'],
  ['other IPv6', NETWORKS, { address: '2001:db9::1' }, 'network_not_allowed'],
  ['no address', NETWORKS, { address: 'unknown' }, 'network_not_allowed'],
  ['the country', COUNTRIES, {}, undefined],
  ['another country', COUNTRIES, { country: 'FR' }, 'country_not_allowed'],
  ['an unknown country', COUNTRIES, { country: undefined }, 'country_not_allowed'],
  ['Tor at Cloudflare', COUNTRIES, { country: 'T1' }, 'country_not_allowed'],
  ['all rules', { ...SITES, ...NETWORKS, ...COUNTRIES }, {}, undefined],
  ['one of three', { ...SITES, ...NETWORKS, ...COUNTRIES }, { country: 'FR' }, 'country_not_allowed'],
];

test.each(CASES)('%s', (...[, access, viewer, denial]) => {
  expect(findDenial(access, { ...VIEWER, ...viewer }, OWN)).toBe(denial);
});

describe('a network', () => {
  const toNumber = (bytes: readonly number[]) => bytes.reduce((sum, byte) => sum * 256n + BigInt(byte), 0n);
  const toText = (bytes: readonly number[]) =>
    bytes.length === 4
      ? bytes.join('.')
      : Array.from({ length: 8 }, (_, n) =>
          (256 * (bytes[2 * n] ?? 0) + (bytes[2 * n + 1] ?? 0)).toString(16),
        ).join(':');
  const bytes = (length: number) =>
    fc.array(fc.integer({ min: 0, max: 255 }), { minLength: length, maxLength: length });

  test.each([
    [4, 32],
    [16, 128],
  ])('of %i bytes contains exactly the addresses with its first bits', (length, bits) => {
    const near = fc.tuple(
      bytes(length),
      fc.integer({ min: 0, max: bits }),
      fc.integer({ min: 0, max: bits - 1 }),
    );
    fc.assert(
      fc.property(near, fc.boolean(), bytes(length), ([network, prefix, flipped], isNear, other) => {
        const address = isNear
          ? network.map((byte, n) => (n === flipped >> 3 ? byte ^ (128 >> (flipped & 7)) : byte))
          : other;
        // An IPv4 address inside IPv6 belongs to the lists of IPv4.
        fc.pre(!(length === 16 && toNumber(address) >> 32n === 0xffffn));
        const shift = BigInt(bits - prefix);
        const isInside = toNumber(network) >> shift === toNumber(address) >> shift;
        const access = { networks: [`${toText(network)}/${prefix}`] };
        const denial = findDenial(access, { ...VIEWER, address: toText(address) }, OWN);
        expect(denial === undefined).toBe(isInside);
      }),
    );
  });
});

type Sent = { readonly headers?: Record<string, string>; readonly ip?: string; readonly ips?: string[] };

/** The reason of the refusal, and the headers that the response gets. */
function assess(access: AccessRules, { headers = {}, ip = '203.0.113.7', ips }: Sent) {
  const set: Record<string, unknown> = {};
  const reply = { header: (name: string, value: unknown) => Object.assign(set, { [name]: value }) };
  const settings = { publicBaseUrl: () => 'https://media.example.net/base', countryHeader: 'cf-ipcountry' };
  const request = { headers, ip, ips };
  try {
    assertViewerAllowed(settings, { access }, { request, reply } as never);
    return { reason: undefined, set };
  } catch (error) {
    return { reason: (error as { details?: { reason?: string } }).details?.reason, set };
  }
}

test.each<[access: AccessRules, sent: Sent, reason: string | undefined]>([
  [SITES, { headers: { referer: 'https://www.example.com/videos?x=1' } }, undefined],
  [SITES, { headers: { referer: 'http://WWW.example.com:80/' } }, undefined],
  [SITES, { headers: { origin: 'https://www.example.com:443' } }, undefined],
  [SITES, { headers: { origin: 'http://localhost:3000' } }, undefined],
  [SITES, { headers: { referer: 'https://media.example.net/base/api/v1/playback/1/embed' } }, undefined],
  [{ ...SITES, allow_no_referrer: true }, { headers: { referer: '' } }, undefined],
  [SITES, { headers: { origin: 'null' } }, 'referrer_not_allowed'],
  [{ ...SITES, allow_no_referrer: true }, { headers: { origin: 'null' } }, 'referrer_not_allowed'],
  [SITES, { headers: { origin: 'capacitor://www.example.com' } }, 'referrer_not_allowed'],
  [SITES, { headers: { referer: 'https://www.example.com@evil.example/' } }, 'referrer_not_allowed'],
  [SITES, { headers: { referer: 'www.example.com' } }, 'referrer_not_allowed'],
  [COUNTRIES, { headers: { 'cf-ipcountry': 'de' }, ips: ['10.0.0.1', '203.0.113.7'] }, undefined],
  [COUNTRIES, { headers: { 'cf-ipcountry': 'DE' }, ips: ['203.0.113.7'] }, 'country_not_allowed'],
  [COUNTRIES, { headers: { 'cf-ipcountry': 'DE' } }, 'country_not_allowed'],
])('%j allows a request with %j, or refuses it with %s', (access, sent, reason) => {
  expect(assess(access, sent).reason).toBe(reason);
});

test('where sites count, later requests name the site, but never a path', () => {
  const headers = { referer: 'https://www.example.com/' };
  expect(assess(SITES, { headers }).set).toEqual({ 'referrer-policy': 'strict-origin' });
  expect(assess(NETWORKS, { headers }).set).toEqual({});
});

test('pages of the service and of the sites may frame the player', () => {
  expect(toFrameAncestors(['*.example.org', 'localhost:3000'])).toBe(
    "'self' http://*.example.org http://localhost:3000",
  );
});
