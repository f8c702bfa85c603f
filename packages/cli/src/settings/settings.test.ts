// Tests the precedence of flags, environment and profiles.
import { describe, expect, test } from 'vitest';
import { normalizeUrl, resolveSettings, type SettingsInput } from './settings.ts';

const PROFILE = {
  name: 'work',
  profile: {
    url: 'https://media.test/',
    token: 'profile-token',
    operator_key: 'profile-operator',
    owner: 'pia',
  },
};
const LOCAL = {
  file: '/data/secrets.json',
  serviceKey: 'local-key',
  operatorKey: 'local-operator',
  accessTokenSecret: 'local-secret',
};
const resolve = (input: Partial<SettingsInput>) =>
  resolveSettings({ flags: {}, env: {}, profile: undefined, local: undefined, userName: 'me', ...input });

describe('precedence', () => {
  const env = { MEDIARY_URL: 'https://media.test', MEDIARY_TOKEN: 'env-token', MEDIARY_OWNER: 'eve' };

  test('flags before environment before profile', () => {
    const all = resolve({ flags: { owner: 'fay' }, env, profile: PROFILE });
    expect(all).toMatchObject({
      owner: 'fay',
      credential: { kind: 'token', token: 'env-token' },
      operatorKey: 'profile-operator',
      sources: { url: 'environment', owner: 'flag', credential: 'environment', operatorKey: 'profile' },
    });
  });

  test('a service key from a nearer place replaces a token, so that a request never carries both', () => {
    const { credential } = resolve({ flags: { serviceKey: 'flag-key' }, env, profile: PROFILE });
    expect(credential).toEqual({ kind: 'service key', key: 'flag-key' });
  });

  test('both from one place are refused', () => {
    expect(() => resolve({ env: { ...env, MEDIARY_SERVICE_KEY: 'key' } })).toThrow(/environment has both/);
  });

  test('empty values count as missing', () => {
    expect(resolve({ env: { MEDIARY_URL: '', MEDIARY_TOKEN: '' }, profile: PROFILE })).toMatchObject({
      url: 'https://media.test',
      credential: { token: 'profile-token' },
    });
  });
});

test('credentials of a profile are not sent to another URL', () => {
  const settings = resolve({ flags: { url: 'https://other.test' }, profile: PROFILE });
  expect(settings).toMatchObject({ credential: undefined, operatorKey: undefined, owner: undefined });
  expect(settings.warnings).toEqual([
    'Profile "work" is for https://media.test/; its credentials are not sent to https://other.test.',
  ]);
});

describe('keys of the data folder', () => {
  test.each([undefined, 'http://localhost:9000', 'http://127.0.0.1:1234', 'http://[::1]:80'])(
    'are used for %s, with the user of the machine as owner',
    (url) => {
      expect(resolve({ flags: { url }, local: LOCAL })).toMatchObject({
        credential: { kind: 'service key', key: 'local-key' },
        operatorKey: 'local-operator',
        accessTokenSecret: 'local-secret',
        owner: 'me',
      });
    },
  );

  test.each(['https://media.test', 'http://127.0.0.1.evil.test', 'http://10.0.0.1'])(
    'are not sent to %s',
    (url) => {
      expect(resolve({ flags: { url }, local: LOCAL })).toMatchObject({
        credential: undefined,
        operatorKey: undefined,
        accessTokenSecret: undefined,
        owner: undefined,
      });
    },
  );

  test('with a service key from elsewhere the owner is not assumed', () => {
    expect(resolve({ env: { MEDIARY_SERVICE_KEY: 'key' }, local: LOCAL }).owner).toBeUndefined();
  });
});

test.each([
  ['https://media.test/', 'https://media.test'],
  ['https://media.test/api/v1/', 'https://media.test'],
  ['HTTP://Media.Test:8080/prefix/', 'http://media.test:8080/prefix'],
])('%s becomes %s', (text, url) => {
  expect(normalizeUrl(text)).toBe(url);
});

test.each(['media.test', 'ftp://media.test', 'https://user:password@media.test'])('%s is refused', (text) => {
  expect(() => normalizeUrl(text)).toThrow();
});
