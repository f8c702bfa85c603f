// Tests the classification of addresses and hosts.
import { expect, test } from 'vitest';
import { classifyAddress, isLoopbackHost, isPrivateHost } from './private-address.ts';

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
  '[2606:4700::1111]',
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

test.each([
  ['public', ['1.1.1.1', '172.15.255.255', '172.32.0.1', '100.63.255.255', '100.128.0.1', '198.17.255.255']],
  ['public', ['198.20.0.0', '223.255.255.255', '2606:4700::1111', '2001:200::1', '2a00:1450::8a', '3ffe::1']],
  [
    'private',
    ['10.0.0.0', '10.255.255.255', '172.16.0.1', '172.31.255.255', '192.168.0.1', '192.168.255.255'],
  ],
  [
    'private',
    ['127.0.0.1', '127.255.255.255', '100.64.0.1', '100.127.255.255', '198.18.0.1', '198.19.255.255'],
  ],
  ['private', ['::1', '0:0:0:0:0:0:0:1', 'fc00::1', 'fd12:3456::1', 'fdff::1']],
  ['reserved', ['0.0.0.0', '0.1.2.3', '192.0.2.1', '198.51.100.7', '203.0.113.9', '2001:db8::1', '3fff::1']],
  ['reserved', ['169.254.0.1', '169.254.169.254', '169.254.170.2', '100.100.100.200', '168.63.129.16']],
  ['reserved', ['192.0.0.192', 'fd00:ec2::254', 'fd20:ce::254', 'fd00:c1::a9fe:a9fe', 'fd00:42::42']],
  ['reserved', ['224.0.0.1', '239.255.255.255', '240.0.0.1', '255.255.255.255', 'ff02::1', 'ff0e::1']],
  ['reserved', ['::', 'fe80::1', 'febf::1', 'fec0::1', '100::1', '5f00::1', '4000::1']],
  // IPv4 within IPv6: mapped, compatible, translated, NAT64, local NAT64, 6to4, Teredo.
  ['reserved', ['::ffff:127.0.0.1', '::ffff:7f00:1', '::ffff:1.1.1.1', '::ffff:10.0.0.1', '::127.0.0.1']],
  ['reserved', ['::ffff:0:127.0.0.1', '64:ff9b::7f00:1', '64:ff9b::1.1.1.1', '64:ff9b:1::a00:1']],
  ['reserved', ['2002:7f00:1::', '2002:a9fe:a9fe::', '2001:0:4136:e378:8000:63bf:3fff:fdd2', '2001:20::1']],
  ['reserved', ['fe80::1%eth0', '::1%lo', '2606:4700::1111%1', '', 'localhost', '127.1', '0x7f000001']],
])('%s: %j', (expected, addresses) => {
  for (const address of addresses) expect([address, classifyAddress(address)]).toEqual([address, expected]);
});

test('names in upper case are the same names', () => {
  expect(isPrivateHost('NAS.LOCAL')).toBe(true);
  expect(isLoopbackHost('LOCALHOST')).toBe(true);
});
