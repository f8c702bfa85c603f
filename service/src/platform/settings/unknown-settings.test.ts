// A misspelt setting is named at the start, with the one that was meant (contract B9).
import { expect, test } from 'vitest';
import { unknownSettingWarnings } from './unknown-settings.ts';

const KNOWN = {
  names: new Set(['PORT', 'HOST', 'ACCESS_TOKEN_SECRET', 'CDNHOST_STREAM_HOSTNAME', 'MAX_UPLOAD_BYTES']),
  prefixes: ['MEDIARY_', 'CDNHOST_'],
};
const warnings = (environment: Record<string, string | undefined>) =>
  unknownSettingWarnings(environment, KNOWN);

test.each([
  ['ACCES_TOKEN_SECRET', 'ACCESS_TOKEN_SECRET'],
  ['CDNHOST_STREAM_HOST_NAME', 'CDNHOST_STREAM_HOSTNAME'],
  ['MAX_UPLOAD_BYTE', 'MAX_UPLOAD_BYTES'],
  ['max_upload_bytes', 'MAX_UPLOAD_BYTES'],
])('%s is told to be %s', (name, meant) => {
  expect(warnings({ [name]: 'a-planted-value' })).toEqual([
    `${name} is not a setting of this release and is ignored. Did you mean ${meant}?`,
  ]);
});

test('a name with our prefix is ours, even where nothing resembles it', () => {
  expect(warnings({ MEDIARY_TURBO: 'on' })).toEqual([
    'MEDIARY_TURBO is not a setting of this release and is ignored.',
  ]);
});

test.each([
  'PATH',
  'POST',
  'HOSTNAME',
  'AWS_ACCESS_KEY_ID',
  'MAX_BYTES',
  'MEDIARY_TEST_DATA',
  'CDNHOST_PORT',
])("%s is somebody else's", (name) => {
  expect(warnings({ [name]: 'x' })).toEqual([]);
});

test('known and empty names are not mentioned', () => {
  expect(warnings({ PORT: '1', MEDIARY_TURBO: ' ', CDNHOST_X: undefined })).toEqual([]);
});

test.each(['CDNHOST_PORTS', 'MEDIARY_CDNHOST_PORT', 'MEDIARY_MY_TEST'])(
  '%s is not taken for a setting of other programs',
  (name) => {
    expect(warnings({ [name]: 'x' })).toEqual([`${name} is not a setting of this release and is ignored.`]);
  },
);

test.each([
  ['MAX_UPLD_BYTES', ' Did you mean MAX_UPLOAD_BYTES?'],
  ['MAX_UPLOAD_BITES', ' Did you mean MAX_UPLOAD_BYTES?'],
  ['XMAX_UPLOAD_BYTESX', ' Did you mean MAX_UPLOAD_BYTES?'],
  ['MAX_UPLD_BYTE', undefined],
  ['MAX_UPLOAD_BITTER', undefined],
])('a name with at most two wrong characters is similar: %s', (name, hint) => {
  const expected = `${name} is not a setting of this release and is ignored.${hint}`;
  expect(warnings({ [name]: 'x' })).toEqual(hint === undefined ? [] : [expected]);
});

test.each([
  ['the more similar name is suggested', 'CACHE_LIMIT_ABC', 'CACHE_LIMIT_AB'],
  ['names shorter than 8 characters are not compared', 'REGION_X', undefined],
  ['nor compared with longer ones', 'LOG_PAT', undefined],
  ['names of 8 characters are', 'LOG_PATS', 'LOG_PATH'],
])('%s: %s', (_rule, name, meant) => {
  for (const names of [
    ['CACHE_LIMIT_A', 'CACHE_LIMIT_AB', 'REGION', 'LOG_PATH'],
    ['LOG_PATH', 'REGION', 'CACHE_LIMIT_AB', 'CACHE_LIMIT_A'],
  ]) {
    const [warning] = unknownSettingWarnings({ [name]: 'x' }, { names: new Set(names), prefixes: [] });
    expect(/Did you mean (\w+)\?/.exec(warning ?? '')?.[1]).toBe(meant);
  }
});
