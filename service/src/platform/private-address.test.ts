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
  '[::1]',
  '[::]',
  '[fe80::1]',
  '[fd00::1]',
  '[::ffff:127.0.0.1]',
  '[::ffff:10.0.0.1]',
  'localhost',
  'LOCALHOST',
  'api.localhost',
  'media',
  'nas.local',
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
  '100.128.0.1',
  '[2606:4700::1111]',
  '[::ffff:1.1.1.1]',
  'local.example',
  'localhost.example.com',
])('%s is not', (host) => {
  expect(isPrivateHost(hostOf(host))).toBe(false);
});

test.each([
  ['127.0.0.1', true],
  ['[::1]', true],
  ['localhost', true],
  ['a.localhost', true],
  ['10.0.0.1', false],
  ['example.com', false],
  ['media', false],
])('%s is this machine itself: %j', (host, isOwn) => {
  expect(isLoopbackHost(hostOf(host))).toBe(isOwn);
});
