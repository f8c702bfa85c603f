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
