// Tests how settings are read from files.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { readSettingFiles } from './setting-files.ts';

const folder = mkdtempSync(join(tmpdir(), 'mediary-settings-'));
afterAll(() => rmSync(folder, { recursive: true }));
const file = (name: string, text: string): string => {
  writeFileSync(join(folder, name), text);
  return join(folder, name);
};
const NAMES = ['SERVICE_API_KEY', 'OPERATOR_KEY', 'DATABASE_URL'];
const read = (environment: Record<string, string>) => readSettingFiles(environment, NAMES);

test('a file gives the value, without the newline at its end', () => {
  const path = file('key', ' secret with spaces \n');
  expect(read({ SERVICE_API_KEY_FILE: path, PORT: '1' })).toEqual({
    SERVICE_API_KEY: ' secret with spaces ',
    PORT: '1',
  });
});

test('a credential of systemd is used unless the variable is set', () => {
  file('OPERATOR_KEY', 'from systemd');
  file('DATABASE_URL', 'postgres://credential');
  const settings = read({ CREDENTIALS_DIRECTORY: folder, DATABASE_URL: 'postgres://variable' });
  expect(settings).toMatchObject({ OPERATOR_KEY: 'from systemd', DATABASE_URL: 'postgres://variable' });
  expect(settings['SERVICE_API_KEY']).toBeUndefined();
});

test('every problem is named, and no value', () => {
  const both = { OPERATOR_KEY: 'planted', OPERATOR_KEY_FILE: file('other', 'planted') };
  const missing = join(folder, 'missing');
  const attempt = () => read({ ...both, SERVICE_API_KEY_FILE: missing });
  expect(attempt).toThrow('OPERATOR_KEY and OPERATOR_KEY_FILE must not be set at the same time');
  expect(attempt).toThrow(`SERVICE_API_KEY_FILE: ${missing} cannot be read (ENOENT)`);
  expect(attempt).not.toThrow('planted');
});

test('an empty path, and a variable of another program, are left alone', () => {
  expect(read({ OPERATOR_KEY_FILE: '', SSL_CERT_FILE: '/etc/ssl/cert.pem' })).toEqual({
    OPERATOR_KEY_FILE: '',
    SSL_CERT_FILE: '/etc/ssl/cert.pem',
  });
});
