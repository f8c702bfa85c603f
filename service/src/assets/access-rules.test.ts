// Tests the normal form of access rules, and which member an error names.
import { describe, expect, test } from 'vitest';
import { assertEnforceable, hasViewerRules, isCheckedPerRequest, parseAccess } from './access-rules.ts';

describe('the normal form', () => {
  test.each([
    [null, null],
    [undefined, null],
    [{}, null],
    [{ downloads: true, allow_no_referrer: false }, null],
    [{ downloads: false }, { downloads: false }],
    [
      {
        referrers: [
          'WWW.Example.com',
          '*.Bücher.example:8443',
          'a.example:443',
          'a.example:80',
          'localhost:3000',
        ],
      },
      { referrers: ['www.example.com', '*.xn--bcher-kva.example:8443', 'a.example', 'localhost:3000'] },
    ],
    [
      { referrers: ['a.example'], allow_no_referrer: true },
      { referrers: ['a.example'], allow_no_referrer: true },
    ],
    [
      { networks: ['203.0.113.7', '10.1.0.0/8', '2001:DB8::/32', '::1', '10.1.0.0/08'] },
      { networks: ['203.0.113.7/32', '10.1.0.0/8', '2001:db8::/32', '::1/128'] },
    ],
    [{ countries: ['de', 'AT', 'DE', 'xk'] }, { countries: ['DE', 'AT', 'XK'] }],
  ])('of %j is %j', (given, access) => {
    expect(parseAccess(given)).toEqual(access);
    expect(parseAccess(parseAccess(given))).toEqual(access);
  });
});

test.each([
  [{ referrers: ['a.example', 'https://www.example.com'] }, 'access.referrers.1', 'invalid_value'],
  [{ referrers: ['www.example.com/videos'] }, 'access.referrers.0', 'invalid_value'],
  [{ referrers: ['*'] }, 'access.referrers.0', 'invalid_value'],
  [{ referrers: ['www.*.com'] }, 'access.referrers.0', 'invalid_value'],
  [{ referrers: ['a.example:99999'] }, 'access.referrers.0', 'invalid_value'],
  [{ referrers: ["a.example;script-src'"] }, 'access.referrers.0', 'invalid_value'],
  [{ referrers: ['a.example, b.example'] }, 'access.referrers.0', 'invalid_value'],
  [{ allow_no_referrer: true }, 'access.allow_no_referrer', 'invalid_value'],
  [{ networks: ['10.0.0.0/33'] }, 'access.networks.0', 'invalid_value'],
  [{ networks: ['::/129'] }, 'access.networks.0', 'invalid_value'],
  [{ networks: ['10.0.0.0/'] }, 'access.networks.0', 'invalid_value'],
  [{ networks: ['10.0.0.0/8/8'] }, 'access.networks.0', 'invalid_value'],
  [{ networks: ['10.0.0'] }, 'access.networks.0', 'invalid_value'],
  [{ networks: ['fe80::1%eth0'] }, 'access.networks.0', 'invalid_value'],
  [{ networks: ['::ffff:10.0.0.0/120'] }, 'access.networks.0', 'invalid_value'],
  [{ countries: ['DE', 'UK'] }, 'access.countries.1', 'unsupported_value'],
  [{ countries: ['D1'] }, 'access.countries.0', 'unsupported_value'],
])('%j is refused with the member', (given, field, reason) => {
  const details = expect.objectContaining({ field, reason });
  expect(() => parseAccess(given)).toThrow(expect.objectContaining({ code: 'BAD_REQUEST', details }));
});

test('one error names every invalid list', () => {
  const errors = ['access.networks.0', 'access.countries.0'].map((field) =>
    expect.objectContaining({ field }),
  );
  expect(() => parseAccess({ networks: ['x'], countries: ['UK'] })).toThrow(
    expect.objectContaining({ details: expect.objectContaining({ errors }) }),
  );
});

describe('a rule that the service could not hold is refused', () => {
  const here = { isElsewhere: false, provider: 'onprem', knowsCountries: true };
  const elsewhere = { ...here, isElsewhere: true, provider: 'cdnhost' };
  test.each([
    [{ referrers: ['a.example'] }, elsewhere, 'access.referrers'],
    [{ networks: ['10.0.0.0/8'], downloads: false }, elsewhere, 'access.networks'],
    [{ countries: ['DE'] }, { ...here, knowsCountries: false }, 'access.countries'],
  ])('%j', (access, by, field) => {
    const details = { field, reason: 'rule_not_enforceable' };
    expect(() => assertEnforceable(access, by)).toThrow(expect.objectContaining({ details }));
  });
  test.each([
    [null, elsewhere],
    [{ downloads: false }, elsewhere],
    [{ referrers: ['a.example'], countries: ['DE'] }, here],
  ])('but not %j', (access, by) => {
    expect(() => assertEnforceable(access, by)).not.toThrow();
  });
});

test('files that the URL alone does not open are checked per request', () => {
  const rules = { networks: ['10.0.0.0/8'] };
  expect(hasViewerRules({ downloads: false })).toBe(false);
  expect(hasViewerRules(rules)).toBe(true);
  const cases = [
    [{ visibility: 'public', access: null }, undefined, false],
    [{ visibility: 'public', access: { downloads: false } }, undefined, false],
    [{ visibility: 'public', access: rules }, undefined, true],
    [{ visibility: 'private', access: null }, 'token', false],
    [{ visibility: 'private', access: null }, undefined, true],
    [{ visibility: 'private', access: rules }, 'token', true],
  ] as const;
  for (const [asset, token, isChecked] of cases) expect(isCheckedPerRequest(asset, token)).toBe(isChecked);
});
