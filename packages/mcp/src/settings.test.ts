// Flags and environment of the server.
import { expect, test } from 'vitest';
import { readSettings } from './settings.ts';

const read = (args: readonly string[], env: Record<string, string> = {}) =>
  readSettings({ argv: ['node', 'mediary-mcp', ...args], env, cwd: () => '/work' });

test('without flags and variables it reads from a service on this machine', () => {
  expect(read([])).toEqual({
    url: 'http://127.0.0.1:8080',
    credential: undefined,
    operatorKey: undefined,
    owner: undefined,
    canWrite: false,
    root: '/work',
  });
});

test('the variables are those of the command line', () => {
  const env = { MEDIARY_URL: 'https://m.test/media/api/v1/', MEDIARY_SERVICE_KEY: 'k', MEDIARY_OWNER: 'ann' };
  expect(read(['--write', '--root', '/videos'], { ...env, MEDIARY_OPERATOR_KEY: 'o' })).toEqual({
    url: 'https://m.test/media',
    credential: { serviceKey: 'k' },
    operatorKey: 'o',
    owner: 'ann',
    canWrite: true,
    root: '/videos',
  });
  expect(read([], { MEDIARY_TOKEN: 't', MEDIARY_SERVICE_KEY: '' })).toMatchObject({
    credential: { token: 't' },
  });
});

test.each<[readonly string[], Record<string, string>, RegExp]>([
  [['--writ'], {}, /--writ/],
  [['--root', '/videos'], {}, /--write/],
  [['extra'], {}, /extra/],
  [[], { MEDIARY_URL: 'ftp://m.test' }, /MEDIARY_URL/],
  [[], { MEDIARY_URL: 'https://ann:secret@m.test' }, /^(?!.*secret).*user name/],
  [[], { MEDIARY_TOKEN: 't', MEDIARY_SERVICE_KEY: 'k' }, /MEDIARY_TOKEN or MEDIARY_SERVICE_KEY/],
])('%j with %j is refused', (args, env, message) => {
  expect(() => read(args, env)).toThrow(message);
});

test('help and version need no settings', () => {
  expect([read(['--help'], { MEDIARY_URL: 'x' }), read(['--version'])]).toEqual(['help', 'version']);
});
