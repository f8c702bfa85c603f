// Tests the settings of identity providers.
import { expect, test } from 'vitest';
import { createSettings } from '../platform/settings/read-settings.ts';
import { issuerWarnings, readAuthSettings } from './settings.ts';

const JWKS_URL = 'https://id.example.com/.well-known/jwks.json';

function read(environment: Record<string, string>) {
  const settings = createSettings(environment);
  return { issuer: readAuthSettings(settings).issuer, problems: settings.problems };
}

test('no identity provider is accepted by default', () => {
  expect(read({})).toEqual({ issuer: undefined, problems: [] });
});

test('an identity provider is read as it is written, with the user id in sub', () => {
  expect(
    read({
      ACCESS_TOKEN_JWKS_URL: JWKS_URL,
      ACCESS_TOKEN_ISSUER: 'https://id.example.com/',
      ACCESS_TOKEN_AUDIENCE: 'media',
    }),
  ).toEqual({
    issuer: {
      jwksUrl: JWKS_URL,
      issuer: 'https://id.example.com/',
      audience: 'media',
      userClaim: 'sub',
    },
    problems: [],
  });
});

test('without an audience the operator is warned', () => {
  const warningsOf = (environment: Record<string, string>) => issuerWarnings(read(environment).issuer);
  expect(warningsOf({ ACCESS_TOKEN_JWKS_URL: JWKS_URL })).toEqual([
    expect.stringContaining('ACCESS_TOKEN_AUDIENCE'),
  ]);
  expect(warningsOf({ ACCESS_TOKEN_JWKS_URL: JWKS_URL, ACCESS_TOKEN_AUDIENCE: 'x' })).toEqual([]);
  expect(warningsOf({})).toEqual([]);
});

test.each(['ACCESS_TOKEN_ISSUER', 'ACCESS_TOKEN_AUDIENCE', 'ACCESS_TOKEN_USER_CLAIM'])(
  '%s without a JWKS URL is a problem',
  (name) => {
    expect(read({ [name]: 'x' }).problems).toEqual([expect.stringContaining('ACCESS_TOKEN_JWKS_URL')]);
  },
);

test('a JWKS URL without an issuer is a problem', () => {
  expect(read({ ACCESS_TOKEN_JWKS_URL: JWKS_URL }).problems).toEqual([
    expect.stringContaining('ACCESS_TOKEN_ISSUER'),
  ]);
});

test.each([
  ['http://id.example.com/keys', false],
  ['http://127.0.0.1.example.com/keys', false],
  ['https://user:password@id.example.com/keys', false],
  ['ftp://id.example.com/keys', false],
  ['id.example.com/keys', false],
  ['https://id.example.com/keys?p=policy', true],
  ['http://127.0.0.1:9000/keys', true],
  ['http://localhost/keys', true],
  ['http://[::1]:9000/keys', true],
])('the JWKS URL %s is allowed: %s', (url, isAllowed) => {
  const { problems } = read({ ACCESS_TOKEN_JWKS_URL: url, ACCESS_TOKEN_ISSUER: 'x' });
  expect(problems.length === 0).toBe(isAllowed);
});
