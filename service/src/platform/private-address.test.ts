// Tests the classification of hosts as private, loopback or public.
import { expect, test } from 'vitest';
import { isLoopbackHost, isPrivateHost } from './private-address.ts';

const hostOf = (host: string) => new URL(`http://${host}/`).hostname;

test.each([
  '127.0.0.1',
  '127.9.9.9',
  '0.0.0.0',
  '10.1.2.3',
  '172.16.0.1',
  '172.31.255.255',
  '192.168.1.1',
  '169.254.169.254',
  '100.64.0.1',
  '2130706433',
  '0x7f.1',
  '255.255.255.255',
  '10.255.255.255',
  '100.127.255.255',
  '192.0.0.8',
  '192.168.255.255',
  '198.18.0.1',
  '198.19.255.255',
  '224.0.0.1',
  '[::1]',
  '[::]',
  '[fe80::1]',
  '[febf::1]',
  '[fc00::1]',
  '[fd00::1]',
  '[ff02::1]',
  '[::ffff:127.0.0.1]',
  '[::ffff:10.0.0.1]',
  'localhost',
  'LOCALHOST',
  'api.localhost',
  'media',
  'nas.local',
  'nas.local.',
  'db.internal',
  'box.lan',
  'x.home.arpa',
])('%s is private', (host) => {
  expect(isPrivateHost(hostOf(host))).toBe(true);
});

test.each([
  'media.example.com',
  '1.1.1.1',
  '172.15.0.1',
  '172.32.0.1',
  '192.169.0.1',
  '11.0.0.1',
  '100.63.255.255',
  '100.128.0.1',
  '169.253.0.1',
  '192.0.1.1',
  '198.17.0.1',
  '198.20.0.1',
  '223.255.255.255',
  '[::2]',
  '[fe00::1]',
  '[fec0::1]',
  '[2606:4700::1111]',
  '[::ffff:1.1.1.1]',
  'local.example',
  'nas.local.example',
  'nas.mylocal',
  'localhost.example.com',
])('%s is not', (host) => {
  expect(isPrivateHost(hostOf(host))).toBe(false);
});

test.each([
  ['127.0.0.1', true],
  ['[::1]', true],
  ['localhost', true],
  ['app.localhost', true],
  ['127.255.255.255', true],
  ['128.0.0.1', false],
  ['[::2]', false],
  ['mylocalhost', false],
  ['localhost.example', false],
  ['10.0.0.1', false],
  ['example.com', false],
  ['media', false],
])('%s is this machine itself: %j', (host, isOwn) => {
  expect(isLoopbackHost(hostOf(host))).toBe(isOwn);
});

test('names in upper case are the same names', () => {
  expect(isPrivateHost('NAS.LOCAL')).toBe(true);
  expect(isLoopbackHost('LOCALHOST')).toBe(true);
});
